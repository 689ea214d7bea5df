"""Parameters without labels: the clustering that others agree with, near low-dimensional subspaces.

Good parameters differ between data sets, but they lie in a wide plateau: clusterings from inside it
resemble each other, while a bad one is bad in its own way. And of two clusterings into the same
number of clusters the better one has clusters nearer to subspaces of low dimension. So clusterings
are ranked by their agreement with all others and by their distance from subspaces, and the smallest
sum of the two ranks wins. Both are computed from the labels, so that they compare affinities of
any density, which gaps in the spectrum do not.

What is judged is a clustering, not its parameters: another start of k-means on the same affinity
changes accuracies as much as other parameters do. Hence several starts of each candidate compete,
and the fit that follows begins at the clustering that won. `benchmarks/selection.py` is the study
behind it.
"""

import warnings
from itertools import product
from typing import NamedTuple

import numpy as np
from sklearn.base import clone

from dssc.estimators.subspaces import mean_residual
from dssc.expression.new_points import unit_rows
from dssc.graph import count_components

ETA1 = (1.0, 10.0, 0.1)  # for up to SAMPLE points; the first ones win where all are equal
N_NEIGHBORS = (6, 8, 4)
STARTS = 4  # of k-means, each of which makes a clustering
SAMPLE = 5000  # points the choice is made on, and at least so many a cluster:
PER_CLUSTER = 50
DIMENSION = 10  # of the subspaces that clusters are compared with,
COMPARED = 150  # on so many points a cluster
DIGITS = 6  # beyond them, rounding would decide


class Candidate(NamedTuple):
    """Parameters that were tried, and the best clustering they gave.

    Attributes
    ----------
    eta1 : float
        Ridge penalty, as it would be used for all points.
    n_neighbors : int or None
        Neighbours of a point; None where eta2 was given.
    agreement : float
        Mean adjusted Rand index between the labels and those of all other clusterings.
    residual : float
        Mean squared distance of the points from the best subspaces of dimension 10, one a cluster.
    n_pieces : int
        Connected components of the affinity. More than clusters rule a candidate out, unless all
        have more.
    """

    eta1: float
    n_neighbors: int | None
    agreement: float = 1.0
    residual: float = 0.0
    n_pieces: int = 1


class Choice(NamedTuple):
    """Candidates, the best first, and the clustering of some points that was the best."""

    candidates: list[Candidate]
    points: np.ndarray | None = None
    labels: np.ndarray | None = None

    def labels_of_all(self, n_samples: int) -> np.ndarray | None:
        """Return the labels with -1 for samples that were not among the points."""
        if self.labels is None:
            return None
        labels = np.full(n_samples, -1, dtype=self.labels.dtype)
        labels[self.points] = self.labels
        return labels


def choose(model, X) -> Choice:
    """Try values for a model's open parameters.

    Open are `eta1` and, unless eta2 is "components", `n_neighbors`, where they are None. Beyond
    5,000 points (or 50 a cluster, if that is more) the choice is made on a random sample, always
    the same. There eta1, which competes with the eigenvalues of X'X, is smaller in proportion, and
    a number of neighbours like the logarithm of the number of points, as graphs need to hold
    together.
    """
    n, k = X.shape[0], model.n_clusters
    n_drawn = min(n, max(SAMPLE, PER_CLUSTER * k))
    drawn = np.arange(n)
    if n_drawn < n:
        drawn = np.sort(np.random.default_rng(0).choice(n, n_drawn, replace=False))
        X = X[drawn]
    eta1s = tuple(eta1 * n / n_drawn for eta1 in ETA1) if model.eta1 is None else (model.eta1,)
    counts: tuple[int | None, ...] = (model.n_neighbors,)
    growth = 1.0
    if model.n_neighbors is None and model.eta2 is None:
        counts, growth = N_NEIGHBORS, np.log(n) / np.log(n_drawn)
    trial = clone(model).set_params(
        warm_start=True, n_init=1, random_state=0, verbose=0, affine=False
    )
    labels, tried = [], []
    for eta1, n_neighbors in product(eta1s, counts):
        trial.set_params(eta1=eta1 * n_drawn / n, n_neighbors=n_neighbors or 1)
        found = _clusterings(trial, X)
        labels += found
        n_pieces = count_components(trial.affinity_matrix_)
        count = n_neighbors and round(n_neighbors * growth)
        tried += [Candidate(eta1, count, n_pieces=n_pieces)] * len(found)
    judged = _judged(tried, labels, X, k)
    order = ranked(judged, k)
    best_of = {(c.eta1, c.n_neighbors): c for c in (judged[i] for i in reversed(order))}
    return Choice(list(best_of.values())[::-1], drawn, labels[order[0]])


def ranked(candidates: list[Candidate], n_clusters: int) -> list[int]:
    """Return the order of candidates by the sum of their ranks in agreement and residual.

    Ties go to the higher agreement, then to the one that came first.
    """
    by_agreement = np.array([-c.agreement for c in candidates])
    by_residual = np.array([c.residual for c in candidates])
    torn = np.array([c.n_pieces > n_clusters for c in candidates])
    ranks = [np.searchsorted(np.sort(values), values) for values in (by_agreement, by_residual)]
    return np.lexsort((by_agreement, ranks[0] + ranks[1], torn)).tolist()


def pairwise_agreements(labels, n_clusters: int) -> np.ndarray:
    """Return the adjusted Rand index of every two labellings, and zero on the diagonal."""
    n = len(labels)
    pairs = np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            pairs[i, j] = pairs[j, i] = _adjusted_rand(labels[i], labels[j], n_clusters)
    return np.round(pairs, DIGITS)


def residuals(X, labels, n_clusters: int) -> list[float]:
    """Return the mean squared distance of points from subspaces, for every labelling of them."""
    n_compared = min(len(labels[0]), COMPARED * n_clusters)
    compared = np.random.default_rng(0).permutation(len(labels[0]))[:n_compared]
    points = unit_rows(X[compared])
    return [
        round(mean_residual(points, some[compared], n_clusters, DIMENSION), DIGITS)
        for some in labels
    ]


def _judged(tried, labels, X, n_clusters):
    """Return candidates with what their labels say."""
    agreements = pairwise_agreements(labels, n_clusters).sum(axis=1) / max(1, len(labels) - 1)
    return [
        candidate._replace(agreement=round(float(agreement), DIGITS), residual=residual)
        for candidate, agreement, residual in zip(
            tried, agreements, residuals(X, labels, n_clusters), strict=True
        )
    ]


def _adjusted_rand(one, two, n_clusters):
    """Return the adjusted Rand index, from counts: scikit-learn's checks cost more than that."""
    cells = np.bincount(one.astype(np.int64) * n_clusters + two, minlength=n_clusters**2)
    cells = cells.reshape(n_clusters, n_clusters).astype(np.float64)
    both, rows, columns = (_pairs(c) for c in (cells, cells.sum(axis=1), cells.sum(axis=0)))
    expected = rows * columns / _pairs(np.array([cells.sum()]))
    most = (rows + columns) / 2
    return 1.0 if most == expected else (both - expected) / (most - expected)


def _pairs(counts):
    return float((counts * (counts - 1)).sum() / 2)


def _clusterings(trial, X):
    """Return the labels that several starts of k-means give."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what matters is said of the fit that follows
        labels = [trial.fit(X).labels_]
        if trial.assign_labels == "kmeans":
            labels += [trial._labels_from(seed) for seed in range(1, STARTS)]
    return labels
