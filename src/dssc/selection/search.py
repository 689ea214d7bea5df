"""Choosing parameters, and if need be the number of clusters, without labels.

First eta1 and whether signs count, by the neighbourhoods of some points; see
:mod:`dssc.selection.neighborhoods`. Then the number of neighbours: graphs with a few numbers are
clustered from several starts of k-means. Clusterings are ranked by their modularity in the mean of
these graphs, and graphs by how near their best clustering is to subspaces of low dimension; the
smallest sum of the two ranks wins. Modularity in a clustering's own graph would prefer sparse
graphs.

Another start of k-means changes the accuracy as much as other parameters do. So, unless a sample
was clustered, the choice comes with labels: a vote of the best clusterings.
`benchmarks/selection.py` is the study behind this rule.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from dssc._warnings import warn_user
from dssc.engines import Engine
from dssc.pipeline import Settings
from dssc.selection.choice import Candidate, Choice
from dssc.selection.criteria import voted
from dssc.selection.neighborhoods import (
    ExpressionChoice,
    choose_expression,
    compared_with_chance,
)
from dssc.selection.trials import RankedClustering, Trial, Trials
from dssc.spectral import estimate_n_clusters
from dssc.spectral.number import ClusterCount

# Neighbours per point that are tried.
N_NEIGHBORS = (12, 6, 24)
# Up to this many points all of them are clustered.
LARGEST_WHOLE = 5000
# Points that are clustered otherwise, unless more are needed for every cluster.
SAMPLE_SIZE = 3000
# Points per cluster that a sample has at least.
SAMPLE_PER_CLUSTER = 40
# Points of a cluster per entry in a row of a graph that can tell it.
ROOM = 1.25
# Fewest points that are compared with chance.
FEWEST_JUDGED = 100
# Mean adjusted Rand index of the best clustering with its rivals that is no matter of chance.
AGREEING = 0.7
# Distance from neighbourhoods, relative to points without clusters, that says there are none.
NO_BETTER_THAN_CHANCE = 0.95
# Best clusterings that vote on the labels.
VOTERS = 16
# eta1 per point from which neighbours are those at the smallest angle.
DIRECTIONS_FROM = 0.05
# eta1 per point up to which neighbours are those that span a point.
SUBSPACES_UP_TO = 2e-3


@dataclass(frozen=True)
class Given:
    """The parameters that are not to be chosen; None for those that are."""

    n_clusters: int | None
    eta1: float | None
    signed: bool | None


def select(
    X: Any, given: Given, settings: Settings, engine: Engine, rng: np.random.RandomState
) -> Choice:
    """Choose what is not given.

    Beyond 5,000 points graphs are made of a sample of 3,000 (or 40 per cluster, if that is more).
    eta1 competes with the eigenvalues of X'X, so in a sample it is smaller in proportion. The
    number of neighbours is smaller like the logarithm of the number of points, which is what graphs
    need to stay connected.

    Parameters
    ----------
    X : ndarray, csr_array or tensor of shape (n_samples, n_features)
        Samples, none of them zero.
    given : Given
        Number of clusters, eta1 and whether signs count, where they are given.
    settings : Settings
        All other parameters. `n_neighbors` is chosen where it is None, unless `eta2` is
        "components".
    engine : Engine
        Where the trials run.
    rng : RandomState
        Randomness of k-means and of the eigensolver's start.
    """
    n = X.shape[0]
    how = choose_expression(X, given.n_clusters, given.eta1)
    signed = how.signed if given.signed is None else given.signed
    n_drawn = n
    if n > LARGEST_WHOLE:
        n_drawn = min(n, max(SAMPLE_SIZE, SAMPLE_PER_CLUSTER * (given.n_clusters or 1)))
        X = X[np.sort(np.random.default_rng(1).choice(n, n_drawn, replace=False))]
    counts: tuple[int | None, ...] = (settings.n_neighbors,)
    if settings.n_neighbors is None and settings.eta2 is None:
        counts = tuple(dict.fromkeys(min(count, n_drawn - 1) for count in N_NEIGHBORS))
    growth = np.log(n) / np.log(n_drawn) if len(counts) > 1 else 1.0
    in_sample = replace(settings, eta1=how.eta1 * (n_drawn / n), signed=signed)
    trials = Trials(X, in_sample, engine, rng)
    for n_neighbors in counts:
        trials.add(n_neighbors, given.n_clusters)
    n_clusters, count = given.n_clusters, None
    if n_clusters is None:
        count = _counted(trials.trials)
        n_clusters = count.n_clusters
    trials.cluster(n_clusters, settings.n_init)
    ranking = trials.ranked_clusterings(n_clusters)
    _warn_of_chance(X, how, ranking)
    graphs = list(dict.fromkeys(entry.trial for entry in ranking))
    candidates = _candidates(how, signed, graphs, growth)
    explanation = explain(how, signed, n)
    if n_drawn < n:
        return Choice(candidates, explanation, count)
    for message in {str(entry.message): entry for entry in graphs[0].messages}.values():
        warn_user(str(message.message), message.category)
    labels = voted([entry.labels for entry in ranking[:VOTERS]], n_clusters)
    return Choice(candidates, explanation, count, graphs[0].graph, graphs[0].embedding, labels)


def _counted(trials: list[Trial]) -> ClusterCount:
    """Return the number of clusters of the densest graph whose clusters are larger than its rows.

    A dense graph joins small clusters, a sparse one splits large ones. There is a single cluster
    only if the sparsest graph has no more.
    """
    for trial in sorted(trials, key=lambda trial: trial.graph.affinity.nnz, reverse=True):
        affinity = trial.graph.affinity
        count = estimate_n_clusters(affinity)
        has_room = count.n_clusters * ROOM * affinity.nnz <= affinity.shape[0] ** 2
        if count.n_clusters > 1 and (count.is_clear or has_room):
            break
    return count


def _warn_of_chance(X: Any, how: ExpressionChoice, ranking: list[RankedClustering]) -> None:
    """Warn if the best clusterings disagree and the points have no clusters beyond chance."""
    best, *others = (entry.labels for entry in ranking[:VOTERS])
    if len(best) < FEWEST_JUDGED:
        return
    if others and np.mean([adjusted_rand_score(best, other) for other in others]) > AGREEING:
        return
    ratio = compared_with_chance(X, how)
    if ratio > NO_BETTER_THAN_CHANCE:
        warn_user(
            f"no clusters beyond chance: points are {ratio:.2f} times as far from the subspace of "
            "their neighbours as in data with the same mean and covariance but without clusters, "
            "and clusterings from different starts disagree. Look at other features or scalings "
            "(affine=True if clusters differ by their distance from the origin)",
            UserWarning,
        )


def _candidates(
    how: ExpressionChoice, signed: bool, trials: list[Trial], growth: float
) -> list[Candidate]:
    """Return what was tried: graphs, the best first, then the other values of eta1."""
    distance = how.tried[0].distance if how.tried else None
    graphs = [
        Candidate(
            how.eta1,
            trial.n_neighbors and round(trial.n_neighbors * growth),
            signed,
            distance,
            trial.best_modularity,
            trial.residual,
            trial.n_pieces,
        )
        for trial in trials
    ]
    others = [Candidate(entry.eta1, None, signed, entry.distance) for entry in how.tried[1:]]
    return graphs + others


def explain(how: ExpressionChoice, signed: bool, n_samples: int) -> str:
    """Return in words which kind of neighbours was chosen, and why."""
    if how.eta1 >= DIRECTIONS_FROM * n_samples:
        kind = "the points cluster by direction: neighbours are those at the smallest angle"
    elif how.eta1 <= SUBSPACES_UP_TO * n_samples:
        kind = "the points cluster by subspace: neighbours are those that together span a point"
    else:
        kind = "the points cluster by direction and by subspace: neighbours are near and span them"
    signs = (
        "a point and its opposite are different"
        if signed
        else f"a point and its opposite are alike ({how.opposite_share:.0%} of the nearest "
        "neighbours are on the opposite side)"
    )
    return f"{kind} (eta1={how.eta1:.3g}); {signs}"
