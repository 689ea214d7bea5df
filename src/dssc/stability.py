"""Whether clusters are found again when half of the points is clustered alone."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from dssc._devices import as_array
from dssc._progress import Progress
from dssc._typing import Array, Matrix
from dssc.engines import Engine, SelfExpression
from dssc.engines.cpu import CpuEngine
from dssc.outliers import margin_to_next_cluster
from dssc.pipeline import COMPONENTS, Settings, affinity_graph, assign, embed, express
from dssc.subspaces import FEW_FEATURES, independent_features, unit_rows, without_clusters

# Fewest neighbours of a graph that is compared; with fewer, any graph falls apart.
FEWEST_NEIGHBORS = 4
# Share of the points that is clustered each time, and the most points.
RESAMPLED_SHARE, MOST_RESAMPLED = 0.5, 1500
# Points without clusters that are made, per point of a sample of them.
POINTS_PER_DRAWN = 2
# Samples that are compared for each set of points without clusters, and most of these sets.
MIXTURE_RESAMPLES, MOST_MIXTURES = 2, 10
# A stability so much above that of points without clusters needs no more of them, which saves time
# in most data with clusters.
FAR_ABOVE = 0.35
# Other numbers of neighbours that are tried, relative to that of the fit, and samples for each.
OTHER_NEIGHBORS, NEIGHBOR_RESAMPLES = (0.5, 2.0), 2
# Points per cluster that are clustered at least, where there are as many.
FEWEST_PER_CLUSTER = 20


class Stability(NamedTuple):
    """How often clusters and points stay together when samples of the points are clustered.

    Attributes
    ----------
    clusters : ndarray of shape (n_clusters,)
        For each cluster, the overlap with the most similar cluster of a sample: points that both
        have, divided by points that either has, among those drawn. This is the mean of all samples:
        1 if the cluster is always found again. NaN if none of its points was ever drawn.
    points : ndarray of shape (n_samples,)
        How often a point is in that most similar cluster, of the times it was drawn. NaN if it was
        never drawn, or has no cluster.
    mean : float
        Mean of `clusters`, weighted by their sizes.
    chance : float
        The same mean for points without clusters, clustered with the same parameters: random sums
        of the points, with their mean and covariance and, up to 30 features, points with
        independent features. The largest of up to ten of each, where it is close.
    margins : ndarray of shape (n_samples,)
        How far a point is from changing its cluster: the share of its affinity to others in its own
        cluster, less the largest share in another one. Between -1 and 1, and zero half way between
        two clusters. NaN if it has no cluster.
    other_neighbors : ndarray of shape (2, n_clusters)
        The same overlap as in `clusters` for samples that are clustered with half and with twice as
        many neighbours per point.
    """

    clusters: Array
    points: Array
    mean: float
    chance: float
    margins: Array
    other_neighbors: Array


def resampled_stability(
    points: Any,
    affinity: Matrix,
    labels: Array,
    n_clusters: int,
    settings: Settings,
    n_resamples: int,
    engine: Engine,
    rng: np.random.RandomState,
) -> Stability:
    """Cluster samples of the points with the parameters of a fit, and compare.

    eta1 competes with the eigenvalues of X'X, so in a sample it is smaller in proportion. The
    number of neighbours is smaller like the logarithm of the number of points.

    Parameters
    ----------
    points : ndarray, csr_array or tensor of shape (n_points, n_features)
        Points of the fit.
    affinity : csr_array or ndarray of shape (n_points, n_points)
        Their affinity.
    labels : ndarray of shape (n_points,)
        Their clusters.
    n_clusters : int
        Number of clusters.
    settings : Settings
        Parameters of the fit, `n_neighbors` among them.
    n_resamples : int
        Number of samples.
    engine : Engine
        Where the samples are clustered.
    rng : RandomState
        Randomness of the samples and of k-means.
    """
    overlaps, shares = _compared(points, labels, n_clusters, settings, n_resamples, engine, rng)
    resampled = _for_sample(settings, resample_size(len(labels), n_clusters), len(labels))
    clusters, mean = _means(overlaps, np.bincount(labels, minlength=n_clusters))
    n, n_mixed = len(labels), resample_size(len(labels), n_clusters) * POINTS_PER_DRAWN
    some = np.sort(rng.choice(n, min(n, n_mixed), replace=False))
    chance = _largest_chance(
        as_array(points[some]), mean, n_clusters, _for_sample(settings, len(some), n), rng
    )
    return Stability(
        clusters,
        shares,
        mean,
        chance,
        margin_to_next_cluster(affinity, labels, n_clusters),
        _with_other_neighbors(points, labels, n_clusters, resampled, engine, rng),
    )


def _with_other_neighbors(
    points: Any,
    labels: Array,
    n_clusters: int,
    settings: Settings,
    engine: Engine,
    rng: np.random.RandomState,
) -> Array:
    """Return the overlap of clusters found with other numbers of neighbours, one row for each.

    Both numbers are projections of the same similarities, which are computed once per sample.
    """
    assert settings.n_neighbors is not None
    n = len(labels)
    sizes = np.bincount(labels, minlength=n_clusters)
    overlaps = np.empty((len(OTHER_NEIGHBORS), NEIGHBOR_RESAMPLES, n_clusters))
    for place in range(NEIGHBOR_RESAMPLES):
        drawn = np.sort(rng.choice(n, resample_size(n, n_clusters), replace=False))
        expression = _expressed(points[drawn], settings, engine)
        for row, factor in enumerate(OTHER_NEIGHBORS):
            fewest = min(FEWEST_NEIGHBORS, settings.n_neighbors)
            n_neighbors = max(fewest, round(factor * settings.n_neighbors))
            changed = replace(settings, n_neighbors=n_neighbors, eta2=None)
            found = _labels(expression, n_clusters, changed, engine, rng)
            overlaps[row, place] = best_overlaps(labels[drawn], found, n_clusters)[0]
    return np.array([_means(some, sizes)[0] for some in overlaps])


def _largest_chance(
    some: Matrix, mean: float, n_clusters: int, settings: Settings, rng: np.random.RandomState
) -> float:
    """Return the largest mean stability of points without clusters.

    These are random sums of the points. Of few features, the distribution of each alone can make
    clusters, which sums do not show. So points with independent features are tried, too.
    """
    rows = unit_rows(some)
    makers = [partial(without_clusters, rows)]
    if some.shape[1] <= FEW_FEATURES and not sparse.issparse(some):
        makers.append(partial(independent_features, some))
    chance = 0.0
    for make in makers:
        for _ in range(MOST_MIXTURES):
            made = make(np.random.default_rng(rng.randint(2**31)))
            if len(made) < 2 * (n_clusters + 1):
                break
            chance = max(chance, _chance_stability(made, n_clusters, settings, rng))
            if not 0.0 < mean - chance < FAR_ABOVE:
                break
        if chance >= mean:
            break
    return chance


def _chance_stability(
    made: Array, n_clusters: int, settings: Settings, rng: np.random.RandomState
) -> float:
    """Return the mean stability of points without clusters, clustered on the CPU."""
    engine = CpuEngine()
    found = _clustered(made, n_clusters, settings, engine, rng)
    compared = _compared(made, found, n_clusters, settings, MIXTURE_RESAMPLES, engine, rng)
    return _means(compared[0], np.bincount(found, minlength=n_clusters))[1]


def _compared(
    points: Any,
    labels: Array,
    n_clusters: int,
    settings: Settings,
    n_resamples: int,
    engine: Engine,
    rng: np.random.RandomState,
) -> tuple[Array, Array]:
    """Return the overlap of every cluster by sample, and how often each point stays."""
    n = len(labels)
    n_drawn = resample_size(n, n_clusters)
    settings = _for_sample(settings, n_drawn, n)
    overlaps = np.empty((n_resamples, n_clusters))
    n_times, n_stays = np.zeros(n), np.zeros(n)
    for place in range(n_resamples):
        drawn = np.sort(rng.choice(n, n_drawn, replace=False))
        found = _clustered(points[drawn], n_clusters, settings, engine, rng)
        overlaps[place], best = best_overlaps(labels[drawn], found, n_clusters)
        n_times[drawn] += 1
        n_stays[drawn] += found == best[labels[drawn]]
    return overlaps, np.divide(n_stays, n_times, out=np.full(n, np.nan), where=n_times > 0)


def _means(overlaps: Array, sizes: Array) -> tuple[Array, float]:
    """Return the mean overlap of every cluster where it is known, and that of all points."""
    is_known = ~np.isnan(overlaps)
    n_known = is_known.sum(axis=0)
    totals = np.where(is_known, overlaps, 0.0).sum(axis=0)
    means = np.divide(totals, n_known, out=np.full(len(sizes), np.nan), where=n_known > 0)
    return means, float(np.average(means[n_known > 0], weights=sizes[n_known > 0]))


def resample_size(n_points: int, n_clusters: int) -> int:
    """Return how many points a sample has: half of them, or some thousand."""
    most = max(MOST_RESAMPLED, FEWEST_PER_CLUSTER * n_clusters)
    return max(n_clusters + 1, min(round(RESAMPLED_SHARE * n_points), most))


def best_overlaps(labels: Array, others: Array, n_clusters: int) -> tuple[Array, Array]:
    """Return the largest Jaccard index of every cluster with one of another clustering, and which.

    NaN for clusters without points.
    """
    cells = np.zeros((n_clusters, n_clusters))
    np.add.at(cells, (labels, others), 1.0)
    sizes = cells.sum(axis=1)
    either = sizes[:, None] + cells.sum(axis=0) - cells
    jaccard = np.divide(cells, either, out=np.zeros_like(cells), where=either > 0)
    best = jaccard.argmax(axis=1)
    return np.where(sizes > 0, jaccard.max(axis=1), np.nan), best


def _for_sample(settings: Settings, n_drawn: int, n_points: int) -> Settings:
    """Return the parameters for a sample of the points."""
    assert settings.n_neighbors is not None
    n_neighbors = max(2, round(settings.n_neighbors * np.log(n_drawn) / np.log(n_points)))
    eta1 = settings.eta1 * n_drawn / n_points
    eta2 = COMPONENTS if settings.eta2 == COMPONENTS else None  # a number is for all points
    return replace(settings, eta1=eta1, eta2=eta2, n_neighbors=n_neighbors)


def _clustered(
    X: Any, n_clusters: int, settings: Settings, engine: Engine, rng: np.random.RandomState
) -> Array:
    return _labels(_expressed(X, settings, engine), n_clusters, settings, engine, rng)


def _expressed(X: Any, settings: Settings, engine: Engine) -> SelfExpression:
    with _without_warnings():
        return express(X, settings, engine, Progress())


def _labels(
    expression: SelfExpression,
    n_clusters: int,
    settings: Settings,
    engine: Engine,
    rng: np.random.RandomState,
) -> Array:
    progress = Progress()
    with _without_warnings():
        graph = affinity_graph(expression, n_clusters, settings, progress)
        embedding = embed(graph, n_clusters, settings, engine, rng, progress)
        return assign(graph, embedding, n_clusters, settings, engine, rng, progress)


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Ignore warnings about a sample; those of the fit were shown."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield
