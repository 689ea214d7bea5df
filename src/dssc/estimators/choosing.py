"""Parameters without labels: the clustering that others agree with, near low-dimensional subspaces.

Good parameters differ between data sets, but they lie in a wide plateau: clusterings from inside it
resemble each other, while a bad one is bad in its own way. And of two clusterings into the same
number of clusters the better one has clusters nearer to subspaces of low dimension. So candidates
are ranked by their agreement with all others and by their distance from subspaces, and the smallest
sum of the two ranks wins. Both are computed from the labels, so that they compare affinities of
any density, which gaps in the spectrum do not. `benchmarks/selection.py` is the study behind it.
"""

import warnings
from itertools import product
from typing import NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from dssc.estimators.subspaces import mean_residual
from dssc.graph import count_components

ETA1 = (1.0, 10.0, 0.1, 100.0)  # for up to SAMPLE points; the first ones win where all are equal
N_NEIGHBORS = (8, 12, 6, 4)
SAMPLE = 5000  # points the choice is made on, and at least so many a cluster:
PER_CLUSTER = 50
DIMENSION = 10  # of the subspaces that clusters are compared with
N_INIT = 5
DIGITS = 6  # beyond them, rounding would decide


class Candidate(NamedTuple):
    """Parameters that were tried.

    Attributes
    ----------
    eta1 : float
        Ridge penalty, as it would be used for all points.
    n_neighbors : int or None
        Neighbours of a point; None where eta2 was given.
    agreement : float
        Mean adjusted Rand index between the labels of this candidate and those of the others.
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


def choose(model, X) -> list[Candidate]:
    """Return the candidates for a model's open parameters, the best first.

    Open are `eta1` and, unless eta2 is "components", `n_neighbors`, where they are None. Beyond
    5,000 points (or 50 a cluster, if that is more) the choice is made on a random sample, always
    the same. There eta1, which competes with the eigenvalues of X'X, is smaller in proportion, and
    a number of neighbours like the logarithm of the number of points, as graphs need to hold
    together.
    """
    n, k = X.shape[0], model.n_clusters
    n_drawn = min(n, max(SAMPLE, PER_CLUSTER * k))
    if n_drawn < n:
        X = X[np.sort(np.random.default_rng(0).choice(n, n_drawn, replace=False))]
    eta1s = tuple(eta1 * n / n_drawn for eta1 in ETA1) if model.eta1 is None else (model.eta1,)
    counts: tuple[int | None, ...] = (model.n_neighbors,)
    growth = 1.0
    if model.n_neighbors is None and model.eta2 is None:
        counts, growth = N_NEIGHBORS, np.log(n) / np.log(n_drawn)
    tried = list(product(eta1s, counts))
    trial = clone(model).set_params(
        warm_start=True, n_init=N_INIT, random_state=0, verbose=0, affine=False
    )
    labels, n_pieces = [], []
    for eta1, n_neighbors in tried:
        trial.set_params(eta1=eta1 * n_drawn / n, n_neighbors=n_neighbors or 1)
        labels.append(_labels(trial, X))
        n_pieces.append(count_components(trial.affinity_matrix_))
    agreements = mean_agreements(labels)
    residuals = [round(mean_residual(X, some, k, DIMENSION), DIGITS) for some in labels]
    found = [
        Candidate(eta1, q and round(q * growth), agreement, residual, pieces)
        for (eta1, q), agreement, residual, pieces in zip(
            tried, agreements, residuals, n_pieces, strict=True
        )
    ]
    return ranked(found, k)


def ranked(candidates: list[Candidate], n_clusters: int) -> list[Candidate]:
    """Return candidates by the sum of their ranks in agreement and residual, the best first.

    Ties go to the higher agreement, then to the one that came first.
    """
    by_agreement = np.array([-c.agreement for c in candidates])
    by_residual = np.array([c.residual for c in candidates])
    torn = np.array([c.n_pieces > n_clusters for c in candidates])
    ranks = [np.searchsorted(np.sort(values), values) for values in (by_agreement, by_residual)]
    order = np.lexsort((by_agreement, ranks[0] + ranks[1], torn))
    return [candidates[i] for i in order]


def mean_agreements(labels) -> list[float]:
    """Return the mean adjusted Rand index of each labelling with all others."""
    n = len(labels)
    pairs = np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            pairs[i, j] = pairs[j, i] = adjusted_rand_score(labels[i], labels[j])
    return np.round(pairs.sum(axis=1) / max(1, n - 1), DIGITS).tolist()


def _labels(trial, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what matters is said of the fit that follows
        return trial.fit(X).labels_
