"""The subspaces of clusters: their bases, and how far each point is from its own."""

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse

from dssc._threads import threads_for_eigenvectors
from dssc._typing import Array

# A singular value below this share of the largest is zero.
NEGLIGIBLE = 1e-10
# A direction of which one point holds more than this share of the weight is that point's own.
OWN_SHARE = 0.5
# A typical residual below this is rounding.
LEAST_RESIDUAL = 1e-8
# Smaller sums of squares may have lost digits to underflow, and larger ones may have overflowed.
SMALLEST_SQUARES, LARGEST_SQUARES = 1e-200, 1e200
# Most features for which points with independent features are made. Sums of more features are close
# to normal, whatever their distribution.
FEW_FEATURES = 30


class Subspaces(NamedTuple):
    """One subspace per cluster.

    Attributes
    ----------
    bases : list of ndarray of shape (dimension, n_features)
        Orthonormal rows, as many as the subspace has dimensions.
    dimensions : ndarray of shape (n_clusters,)
        Dimension of each subspace.
    residuals : ndarray of shape (n_samples,)
        Distance of each point, scaled to unit norm, from the subspace of its cluster.
    outlier_scores : ndarray of shape (n_samples,)
        The residual relative to the median of its cluster: one is typical, outliers have much more.
    """

    bases: list[Array]
    dimensions: Array
    residuals: Array
    outlier_scores: Array


def unit_rows(rows: Any, out: Array | None = None) -> Array:
    """Return points in float64, scaled to unit norm; in the first rows of `out` if it is given.

    A power of two, which changes no digit, first keeps squares of tiny or huge values in range.
    """
    rows = rows.toarray() if sparse.issparse(rows) else rows
    if out is None:
        rows = np.array(rows, dtype=np.float64, order="C")
    else:
        out[: len(rows)] = rows
        rows = out[: len(rows)]
    with np.errstate(over="ignore"):
        squares = np.einsum("ij,ij->i", rows, rows)
    extreme = np.flatnonzero((squares <= SMALLEST_SQUARES) | (squares >= LARGEST_SQUARES))
    if len(extreme):
        some = rows[extreme]
        some = np.ldexp(some, -np.frexp(np.abs(some).max(axis=1, keepdims=True, initial=0.0))[1])
        rows[extreme], squares[extreme] = some, np.einsum("ij,ij->i", some, some)
    rows *= 1.0 / np.sqrt(squares)[:, None]
    return rows


def without_clusters(rows: Array, rng: np.random.Generator) -> Array:
    """Return as many random sums of points: the same mean and covariance, but no clusters."""
    n, mean = len(rows), rows.mean(axis=0)
    return mean + rng.normal(size=(n, n)) @ (rows - mean) / np.sqrt(n)


def fit_subspaces(X: Any, labels: Array, n_clusters: int) -> Subspaces:
    """Fit a subspace to the points of every cluster, scaled to unit norm.

    The dimension is the number of singular values above the threshold of Gavish and Donoho (2014)
    for noise of an unknown level, a multiple of the median singular value. A direction of which a
    single point holds more than half is left out: otherwise an outlier would lie in the subspace
    that it spoils.
    """
    bases, residuals, scores = [], np.empty(X.shape[0]), np.empty(X.shape[0])
    for cluster in range(n_clusters):
        members = np.flatnonzero(labels == cluster)
        points = unit_rows(X[members])
        basis = fit_basis(points)
        rest = points - (points @ basis.T) @ basis
        residuals[members] = np.linalg.norm(rest, axis=1)
        typical = np.median(residuals[members]) if len(members) else 1.0
        scores[members] = residuals[members] / max(typical, LEAST_RESIDUAL)
        bases.append(basis)
    return Subspaces(bases, np.array([len(basis) for basis in bases]), residuals, scores)


def independent_features(X: Array, rng: np.random.Generator) -> Array:
    """Return points with the same features, each in another random order, without copies.

    So every feature keeps its distribution, and features do not depend on each other.
    """
    made = rng.permuted(X, axis=0)
    made = np.unique(unit_rows(made[np.any(made != 0.0, axis=1)]), axis=0)
    return rng.permutation(made)


def leading_directions(points: Array, count: int) -> Array:
    """Return an orthonormal basis of the best subspace of some points, one vector per row.

    It has `count` vectors, or as many as the points span.
    """
    n, d = points.shape
    if n == 0:
        return np.zeros((0, d))
    gram = points @ points.T if n < d else points.T @ points
    values, vectors = linalg.eigh(gram, driver="evd")
    values, vectors = values[-count:], vectors[:, -count:]
    kept = values > NEGLIGIBLE * values[-1]
    directions = vectors[:, kept].T
    return (directions @ points) / np.sqrt(values[kept, None]) if n < d else directions


def fit_basis(points: Array) -> Array:
    """Return an orthonormal basis of the subspace near some points, one vector per row."""
    if len(points) == 0:
        return np.zeros((0, points.shape[1]))
    with threads_for_eigenvectors(min(points.shape)):
        left, values, right = linalg.svd(points, full_matrices=False)
    aspect = min(points.shape) / max(points.shape)
    cut = (0.56 * aspect**3 - 0.95 * aspect**2 + 1.82 * aspect + 1.43) * np.median(values)
    signal = values > max(cut, NEGLIGIBLE * values[0])
    shared = np.max(left**2, axis=0) <= OWN_SHARE
    kept = np.flatnonzero(signal & shared)
    return right[kept if len(kept) else [0]]
