"""A measure that compares clusterings without labels, and a vote between clusterings."""

from typing import Any

import numpy as np
from scipy import optimize

from dssc._devices import as_array
from dssc._threads import block_threads
from dssc._typing import Array
from dssc.agreement import common_points
from dssc.kernels import n_threads
from dssc.subspaces import leading_directions, unit_rows

# Points per cluster that are compared with subspaces.
COMPARED_PER_CLUSTER = 150
# One point in this many is held out.
HELD_SHARE = 4


def voted(labels: list[Array], n_clusters: int) -> Array:
    """Return the cluster that most of several clusterings, the best first, put each point in.

    If a cluster would get no point, only the better half of the clusterings votes.
    """
    while len(labels) > 1:
        outcome = _majority(labels, n_clusters)
        if np.count_nonzero(np.bincount(outcome)) == n_clusters:
            return outcome.astype(labels[0].dtype)
        labels = labels[: len(labels) // 2]
    return labels[0]


def _majority(labels: list[Array], n_clusters: int) -> Array:
    """Return the cluster that most clusterings put each point in.

    Clusterings number their clusters differently, so each is matched to the first one, with as many
    points as possible staying in their cluster; and then to the outcome, for a second vote. The
    first clustering decides where votes are equal.
    """
    outcome, points = labels[0], np.arange(len(labels[0]))
    for _ in range(2):
        votes = np.zeros((len(points), n_clusters))
        votes[points, outcome] = 0.5
        for vote in labels:
            cells = common_points(vote, outcome, n_clusters)
            names = optimize.linear_sum_assignment(cells, maximize=True)[1]
            votes[points, names[vote]] += 1.0
        outcome = votes.argmax(axis=1)
    return outcome


def held_out_residual(X: Any, labels: Array, n_clusters: int, dimension: int) -> float:
    """Return the mean squared distance of held-out points from the subspace of their cluster.

    Of every cluster a quarter of the points is held out, and the others give its subspace. Without
    that, clusters of a few points would seem perfect.
    """
    n_compared = min(len(labels), COMPARED_PER_CLUSTER * n_clusters)
    compared = np.random.default_rng(0).permutation(len(labels))[:n_compared]
    X, labels = unit_rows(as_array(X[compared])), labels[compared]
    is_held = np.arange(n_compared) % HELD_SHARE == 0

    def total(cluster: int) -> float:
        own = labels == cluster
        held = X[own & is_held]
        basis = leading_directions(X[own & ~is_held], dimension)
        return float(np.square(held).sum() - np.square(held @ basis.T).sum())

    with block_threads(n_threads()) as in_threads:
        return sum(in_threads(total, range(n_clusters))) / int(is_held.sum())
