"""Choosing parameters without labels.

First eta1. Where a graph has clear clusters, k-means finds the same ones from every start; where it
has none, every start ends elsewhere. So we take the eta1 for which several starts agree best, on
clusters of high modularity: all starts agree on a single stray point too. Then the number of
neighbours: clusterings of all graphs with that eta1 are ranked by their modularity in the mean of
these graphs, and by their distance from subspaces of low dimension, and the smallest sum of the two
ranks wins.

Both measures compare clusterings from graphs of any density. Gaps in a spectrum, or the modularity
of a clustering in its own graph, do not. Another start of k-means changes the accuracy as much as
other parameters do, so the choice comes with labels: a vote of the best clusterings.
`benchmarks/selection.py` is the study behind this rule.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from dssc.engines import Engine
from dssc.pipeline import Settings
from dssc.selection.choice import Choice
from dssc.selection.trials import Trials

# Values of eta1 that are tried, for up to SAMPLE_SIZE points; the first ones win ties.
ETA1_VALUES = (1.0, 10.0, 0.1)
# Neighbours per point in the graphs that eta1 is chosen by.
FIRST_COUNTS = (6, 12)
# Further numbers of neighbours for the eta1 that won.
MORE_COUNTS = (8, 4)
# Points that the choice is made on, unless more are needed for every cluster.
SAMPLE_SIZE = 5000
# Points per cluster that a sample has at least.
SAMPLE_PER_CLUSTER = 50


def select(
    X: Any, n_clusters: int, settings: Settings, engine: Engine, eta1: float | None = None
) -> Choice:
    """Choose eta1 and the number of neighbours.

    Beyond 5,000 points (or 50 per cluster, if that is more) the choice is made on a random sample,
    always the same. eta1 competes with the eigenvalues of X'X, so in a sample it is smaller in
    proportion. The number of neighbours is smaller like the logarithm of the number of points,
    which is what graphs need to stay connected.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
        Samples, none of them zero.
    n_clusters : int
        Number of clusters.
    settings : Settings
        All other parameters. `n_neighbors` is chosen where it is None, unless `eta2` is
        "components".
    engine : Engine
        Where the trials run.
    eta1 : float or None
        The eta1 to use; None to choose it.
    """
    n = X.shape[0]
    n_drawn = min(n, max(SAMPLE_SIZE, SAMPLE_PER_CLUSTER * n_clusters))
    if n_drawn < n:
        X = X[np.sort(np.random.default_rng(0).choice(n, n_drawn, replace=False))]
    first: tuple[int | None, ...] = (settings.n_neighbors,)
    more: tuple[int | None, ...] = ()
    growth = 1.0
    if settings.n_neighbors is None and settings.eta2 is None:
        first, more, growth = FIRST_COUNTS, MORE_COUNTS, np.log(n) / np.log(n_drawn)
    values = tuple(value * n / n_drawn for value in ETA1_VALUES) if eta1 is None else (eta1,)
    ranking: list[Trials] = []
    for value in values:
        in_sample = replace(settings, eta1=value * (n_drawn / n))
        trials = Trials(X, n_clusters, in_sample, engine, value, growth)
        trials.add(first)
        ranking = sorted([*ranking, trials], key=lambda entry: entry.score, reverse=True)
        for worse in ranking[1:]:
            worse.release()
    best, *others = ranking
    best.add(more)
    if n_drawn == n:
        best.add_starts()
    candidates, labels = best.judged()
    candidates += [candidate for trials in others for candidate in trials.candidates]
    if n_drawn < n:
        return Choice(candidates)
    return Choice(candidates, labels, best.expression)
