"""Similarities between points: as given, and from distances to nearest neighbours."""

import numpy as np
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from dssc._typing import Array, Matrix

# The squared distance at which similarity ends, relative to the largest between neighbours: the
# farthest neighbours are still neighbours.
REACH = 1.0001


class NeighborSimilarity:
    """Similarities ``r - d ** 2`` of points at a distance d, for nearest neighbours only.

    The constant r is just above the largest ``d ** 2``. It changes no projection.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Points.
    n_neighbors : int
        Number of neighbours that a point has at least.
    """

    def __init__(self, X: Matrix, n_neighbors: int):
        self.search = NearestNeighbors(n_neighbors=min(n_neighbors, X.shape[0] - 1)).fit(X)
        self.distances, self.neighbors = self.search.kneighbors()
        self.reach = REACH * float(self.distances.max()) ** 2 or 1.0

    def within(self) -> sparse.csr_array:
        """Return the similarities of the points: of pairs of which one is a neighbour."""
        K = self._matrix(self.distances, self.neighbors)
        return sparse.csr_array(K.maximum(K.T))

    def between(self, X: Matrix) -> sparse.csr_array:
        """Return the similarities of new points to their neighbours among the points."""
        return self._matrix(*self.search.kneighbors(X))

    def _matrix(self, distances: Array, neighbors: Array) -> sparse.csr_array:
        n, count = distances.shape
        values = self.reach - distances.ravel().astype(np.float64) ** 2
        indptr = np.arange(0, n * count + 1, count)
        shape = n, self.search.n_samples_fit_
        return sparse.csr_array((values, neighbors.ravel(), indptr), shape=shape)


def symmetric_part(K: Matrix) -> Matrix:
    """Return ``(K + K') / 2``, exactly symmetric."""
    if not sparse.issparse(K):
        return (K + K.T) / 2
    return sparse.csr_array((K + K.T) / 2)


def without_self_loops(K: Matrix, self_loops: bool) -> tuple[Matrix, float]:
    """Return similarities that are at least zero, and zero on the diagonal unless loops count.

    Zero is the similarity of the least similar pair, if that is negative. An array is changed in
    place.

    Returns
    -------
    K : ndarray or csr_array
        The similarities.
    lowest : float
        What was subtracted from all of them, zero or less.
    """
    lowest = min(0.0, float(K.min()))
    if sparse.issparse(K):
        entries = K.tocoo()
        kept = np.flatnonzero((entries.row != entries.col) | self_loops)
        places = entries.row[kept], entries.col[kept]
        return sparse.csr_array((entries.data[kept] - lowest, places), shape=K.shape), lowest
    if lowest < 0:
        K -= lowest
    if not self_loops:
        np.fill_diagonal(K, 0.0)
    return K, lowest


def is_isolated(K: Matrix) -> Array:
    """Return which points have no similarity to any other, in symmetric similarities."""
    n = K.shape[0]
    if sparse.issparse(K):
        rows = np.repeat(np.arange(n), np.diff(K.indptr))
        counts = np.bincount(rows[(K.data != 0) & (rows != K.indices)], minlength=n)
    else:
        counts = np.count_nonzero(K, axis=1) - (K.diagonal() != 0)
    return counts == 0


def edges_per_point(K: Matrix) -> float:
    """Return the mean number of other points that a point may be connected with."""
    n = K.shape[0]
    if not sparse.issparse(K):
        return n - 1.0
    rows = np.repeat(np.arange(n), np.diff(K.indptr))
    return float(np.count_nonzero(rows != K.indices)) / n
