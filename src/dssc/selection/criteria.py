"""Measures that compare clusterings without labels, and a vote between clusterings."""

import numpy as np
from scipy import optimize

from dssc._typing import Array, Matrix
from dssc.subspaces import squared_residual

# Dimension of the subspaces that clusters are compared with.
DIMENSION = 10
# Points per cluster that are compared with subspaces.
COMPARED_PER_CLUSTER = 150
# Decimals of a measure; beyond them, rounding would decide.
DIGITS = 6


def ranked(modularities: list[float], residuals: list[float], torn: Array) -> list[int]:
    """Return the order of clusterings by the sum of their ranks in modularity and residual.

    Clusterings of a graph `torn` into too many components come last. Ties go to the higher
    modularity, then to the one that came first.
    """
    values = -np.asarray(modularities), np.asarray(residuals)
    ranks = [np.searchsorted(np.sort(value), value) for value in values]
    return np.lexsort((values[0], ranks[0] + ranks[1], torn)).tolist()


def voted(labels: list[Array], n_clusters: int) -> Array:
    """Return the cluster that most of several clusterings put each point in.

    Clusterings number their clusters differently, so each is matched to the first one, with as many
    points as possible staying in their cluster; and then to the outcome, for a second vote. The
    first clustering decides where votes are equal, and stands alone where a cluster would get no
    point.
    """
    outcome, points = labels[0], np.arange(len(labels[0]))
    for _ in range(2):
        votes = np.zeros((len(points), n_clusters))
        votes[points, outcome] = 0.5
        for vote in labels:
            cells = _common_points(vote, outcome, n_clusters)
            names = optimize.linear_sum_assignment(cells, maximize=True)[1]
            votes[points, names[vote]] += 1.0
        outcome = votes.argmax(axis=1)
    is_full = np.count_nonzero(np.bincount(outcome)) == n_clusters
    return outcome.astype(labels[0].dtype) if is_full else labels[0]


def mean_agreement(labels: list[Array], n_clusters: int) -> float:
    """Return the mean adjusted Rand index between labellings; one, if there is only one."""
    n = len(labels)
    if n == 1:
        return 1.0
    total = pairwise_agreements(labels, n_clusters).sum()
    return round(float(total) / (n * (n - 1)), DIGITS)


def pairwise_agreements(labels: list[Array], n_clusters: int) -> Array:
    """Return the adjusted Rand index of every two labellings, and zero on the diagonal."""
    n = len(labels)
    pairs = np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            pairs[i, j] = pairs[j, i] = _adjusted_rand(labels[i], labels[j], n_clusters)
    return pairs


def subspace_residuals(X: Matrix, labels: list[Array], n_clusters: int) -> list[float]:
    """Return the mean squared distance of points from subspaces, for every labelling of them."""
    n_compared = min(len(labels[0]), COMPARED_PER_CLUSTER * n_clusters)
    compared = np.random.default_rng(0).permutation(len(labels[0]))[:n_compared]
    X = X[compared]
    known: dict[bytes, float] = {}  # by members: starts of k-means share many clusters

    def residual_of(members: Array) -> float:
        key = members.tobytes()
        if key not in known:
            known[key] = squared_residual(X[members], DIMENSION)
        return known[key]

    totals = []
    for labelling in labels:
        order = np.argsort(labelling[compared], kind="stable")
        ends = np.cumsum(np.bincount(labelling[compared], minlength=n_clusters))[:-1]
        totals.append(sum(residual_of(members) for members in np.split(order, ends)))
    return [round(total / n_compared, DIGITS) for total in totals]


def _adjusted_rand(one: Array, two: Array, n_clusters: int) -> float:
    """Return the adjusted Rand index from counts; scikit-learn's checks cost more than that."""
    cells = _common_points(one, two, n_clusters)
    both, rows, columns = (_n_pairs(c) for c in (cells, cells.sum(axis=1), cells.sum(axis=0)))
    expected = rows * columns / _n_pairs(np.array([cells.sum()]))
    most = (rows + columns) / 2
    return 1.0 if most == expected else (both - expected) / (most - expected)


def _common_points(one: Array, two: Array, n_clusters: int) -> Array:
    """Return how many points each cluster of one labelling shares with each of another."""
    cells = np.bincount(one.astype(np.int64) * n_clusters + two, minlength=n_clusters**2)
    return cells.reshape(n_clusters, n_clusters).astype(np.float64)


def _n_pairs(counts: Array) -> float:
    return float((counts * (counts - 1)).sum() / 2)
