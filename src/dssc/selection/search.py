"""Choosing parameters, and if need be the number of clusters, without labels.

First eta1 and whether signs count, by the neighbourhoods of some points; see
:mod:`dssc.selection.neighborhoods`. Then the number of neighbours. A point needs neighbours in
every direction in which points vary, and each one beyond them may belong to another cluster. So it
is in proportion to the dimension of the data, but not larger than a cluster. If such a graph leaves
out points, with components smaller than a neighbourhood, it grows until it does not.

Another start of k-means changes the accuracy as much as other parameters do. So the choice comes
with labels: a vote between clusterings from several starts in three embeddings, the quarter with
the highest modularity.

Beyond 8,000 points this would take long. Then only parameters are chosen, and the number of
clusters is estimated on a sample. `benchmarks/selection.py` is the study behind this rule.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dssc._typing import Array
from dssc._warnings import warn_user
from dssc.agreement import rand_index
from dssc.engines import Engine
from dssc.pipeline import Settings
from dssc.selection import affine
from dssc.selection.affine import FlatTrials
from dssc.selection.choice import Candidate, Choice
from dssc.selection.criteria import voted
from dssc.selection.drawn import MOST_NEIGHBORS, Drawn
from dssc.selection.neighborhoods import (
    REFERENCE_SIZE,
    ExpressionChoice,
    choose_expression,
    compared_with_chance,
)
from dssc.selection.signs import are_clusters_opposite
from dssc.selection.trials import Trials
from dssc.spectral import estimate_n_clusters
from dssc.spectral.number import ClusterCount

# Fewest neighbours of a graph whose clusters are counted.
FEWEST_COUNTED = 6
# Neighbours with which points of a cluster are connected, even those of a curve.
CONNECTING_NEIGHBORS = 12
# Up to this many points all of them are clustered several times.
LARGEST_WHOLE = 8000
# Points that graphs are made of otherwise, unless more are needed for every cluster.
SAMPLE_SIZE = 3000
# Fewest points that are compared with chance.
FEWEST_JUDGED = 100
# Mean adjusted Rand index of the best clustering with its rivals that is no matter of chance.
AGREEING = 0.7
# Distance from neighbourhoods, relative to points without clusters, that says there are none.
NO_BETTER_THAN_CHANCE = 0.95
# Share of the clusterings, the best ones, that vote on the labels.
VOTING_SHARE = 0.25
# eta1 per point from which neighbours are those at the smallest angle.
DIRECTIONS_FROM = 0.05
# eta1 per point up to which neighbours are those that span a point.
SUBSPACES_UP_TO = 2e-3


@dataclass(frozen=True)
class Given:
    """The parameters that are not to be chosen; None for those that are.

    `affine` says that clusters are affine subspaces, and X has a constant coordinate. `weights` are
    those of the points, with a mean of one, if they have any: graphs and clusterings count them,
    eta1 and signs are chosen without. Candidates and explanation state eta1 for `mean_weight`.
    """

    n_clusters: int | None
    eta1: float | None
    signed: bool | None
    affine: bool = False
    weights: Array | None = None
    mean_weight: float = 1.0


def select(
    X: Any, given: Given, settings: Settings, engine: Engine, rng: np.random.RandomState
) -> Choice:
    """Choose what is not given.

    Beyond 8,000 points graphs are made of a sample of 3,000 (or 40 per cluster, if that is more),
    and only to estimate the number of clusters, or if the points look like chance. eta1 competes
    with the eigenvalues of X'X, so in a sample it is smaller in proportion.

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
    known = given.n_clusters, 1.0 if given.affine else given.eta1
    how = choose_expression(X, *known, given.signed)
    sample = Drawn(X, given.weights, X.shape[0], settings, engine, rng)
    if X.shape[0] > LARGEST_WHOLE:
        sample = sample.at_most(SAMPLE_SIZE, given.n_clusters)
    may_be_opposite = given.signed is None and not (how.signed or given.affine)
    if may_be_opposite and are_clusters_opposite(sample, how, given.n_clusters):
        how = choose_expression(X, *known, signed=True)
    sample = sample._replace(settings=replace(settings, signed=how.signed))
    if given.affine:
        return _by_flatness(sample, given)
    is_whole = sample.X.shape[0] == X.shape[0]
    if not is_whole and compared_with_chance(sample.X, how) <= NO_BETTER_THAN_CHANCE:
        return _without_clustering(sample, given, how)
    return _by_clustering(sample, given, how)


def _without_clustering(sample: Drawn, given: Given, how: ExpressionChoice) -> Choice:
    """Choose parameters only and, if it is not given, the number of clusters."""
    settings = replace(sample.settings, eta1=how.eta1 * sample.share)
    count = None
    if given.n_clusters is None:
        trials = Trials(sample.X, settings, sample.engine, sample.rng, sample.weights)
        count = _count(sample, how, trials)
    n_neighbors = settings.n_neighbors
    if not sample.is_density_given():
        n_neighbors = sample.n_neighbors(how.dimension, given.n_clusters)
    candidates = _expressions(how, settings.signed, given.mean_weight)
    candidates[0] = candidates[0]._replace(n_neighbors=n_neighbors)
    explanation = explain(how, settings.signed, sample.n_samples, given.mean_weight)
    return Choice(candidates, explanation, count)


def _expressions(how: ExpressionChoice, signed: bool, mean_weight: float) -> list[Candidate]:
    """Return the values of eta1 that were compared, the best or the given one first."""
    tried = [
        Candidate(entry.eta1 * mean_weight, None, signed, entry.distance) for entry in how.tried
    ]
    return tried or [Candidate(how.eta1 * mean_weight, None, signed)]


def _by_clustering(sample: Drawn, given: Given, how: ExpressionChoice) -> Choice:
    """Choose the number of neighbours for a chosen eta1, and cluster the graph."""
    settings = replace(sample.settings, eta1=how.eta1 * sample.share)
    trials = Trials(sample.X, settings, sample.engine, sample.rng, sample.weights)
    count = _count(sample, how, trials) if given.n_clusters is None else None
    n_clusters = given.n_clusters if count is None else count.n_clusters
    assert n_clusters is not None
    best = sample.graph(n_clusters, how.dimension, trials)
    trials.cluster(best, n_clusters, settings.n_init)
    voters = best.labels[: math.ceil(VOTING_SHARE * len(best.labels))]
    _warn_of_chance(sample.X, how, voters)
    chosen, *others = _expressions(how, settings.signed, given.mean_weight)
    candidates = [
        chosen._replace(
            n_neighbors=trial.n_neighbors,
            modularity=trial.best_modularity,
            n_pieces=len(trial.pieces),
            stray_share=trial.stray_share,
        )
        for trial in sorted(trials.trials, key=lambda trial: trial is not best)
    ]
    candidates += others
    explanation = explain(how, settings.signed, sample.n_samples, given.mean_weight)
    return sample.choice(candidates, explanation, count, best, voted(voters, n_clusters))


def _by_flatness(sample: Drawn, given: Given) -> Choice:
    """Choose eta1 and the number of neighbours for clusters that are affine subspaces."""
    trials = FlatTrials(sample.X, sample.settings, sample.engine, sample.rng, sample.weights)
    scale = sample.X.shape[0] / REFERENCE_SIZE
    values = [value * scale for value in affine.ETA1_VALUES]
    counts: list[int | None] = [sample.settings.n_neighbors]
    if not sample.is_density_given():
        counts = sorted({min(value, sample.X.shape[0] - 1) for value in affine.N_NEIGHBORS})
    for eta1 in values if given.eta1 is None else [given.eta1 * sample.share]:
        trials.add(eta1, counts, given.n_clusters)
    count = None
    if given.n_clusters is None:
        middle = trials.trials[len(counts) // 2 - len(counts)][1]
        count = estimate_n_clusters(middle.graph.affinity)
    n_clusters = given.n_clusters if count is None else count.n_clusters
    assert n_clusters is not None
    ranking = trials.cluster(n_clusters)
    signed = sample.settings.signed
    candidates = [
        Candidate(
            eta1 / sample.share * given.mean_weight,
            trial.n_neighbors,
            signed,
            residual=trial.residual,
            n_pieces=len(trial.pieces),
        )
        for eta1, trial in ranking
    ]
    explanation = (
        f"clusters are taken as affine subspaces, and those that held-out points are nearest to "
        f"have eta1={candidates[0].eta1:.3g}"
    )
    best = ranking[0][1]
    return sample.choice(candidates, explanation, count, best, best.labels[0])


def _count(sample: Drawn, how: ExpressionChoice, trials: Trials) -> ClusterCount:
    """Return the number of clusters of the graph of given density, or of one that suits the data.

    The labels often come from the same graph. But if it is sparse and falls into components of
    different size, these may be shreds of clusters, and a denser graph is taken.
    """
    if sample.is_density_given():
        trial = trials.add(sample.settings.n_neighbors, None)
    else:
        most = min(MOST_NEIGHBORS, sample.X.shape[0] - 1)
        n_neighbors = max(sample.n_neighbors(how.dimension, None), min(FEWEST_COUNTED, most))
        trial = trials.add_connected(n_neighbors, most, None)
        if trial.is_torn and n_neighbors < (denser := min(CONNECTING_NEIGHBORS, most)):
            trial = trials.add(max(denser, trial.n_neighbors or 0), None)
    return trial.count_clusters()


def _warn_of_chance(X: Any, how: ExpressionChoice, clusterings: list[Array]) -> None:
    """Warn if the best clusterings disagree and the points have no clusters beyond chance."""
    best, *others = clusterings
    if len(best) < FEWEST_JUDGED:
        return
    n_clusters = int(max(labels.max() for labels in clusterings)) + 1
    if others and np.mean([rand_index(best, other, n_clusters) for other in others]) > AGREEING:
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


def explain(how: ExpressionChoice, signed: bool, n_samples: int, mean_weight: float = 1.0) -> str:
    """Return in words which kind of neighbours was chosen, and why."""
    if how.eta1 >= DIRECTIONS_FROM * n_samples:
        kind = "the points cluster by direction: neighbours are those at the smallest angle"
    elif how.eta1 <= SUBSPACES_UP_TO * n_samples:
        kind = "the points cluster by subspace: neighbours are those that together span a point"
    else:
        kind = "the points cluster by direction and by subspace: neighbours are near and span them"
    sides = ", since clusters are opposite to each other" if how.is_symmetric else ""
    signs = (
        f"a point and its opposite are different{sides}"
        if signed
        else f"a point and its opposite are alike ({how.opposite_share:.0%} of the nearest "
        "neighbours are on the opposite side)"
    )
    directions = f"points vary in about {how.dimension:.3g} directions"
    return f"{kind} (eta1={how.eta1 * mean_weight:.3g}); {signs}; {directions}"
