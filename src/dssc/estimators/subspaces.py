"""The subspaces a clustering has found: their bases, and how far each point is from its own."""

from typing import NamedTuple

import numpy as np
from scipy import linalg

from dssc.expression.new_points import unit_rows

NEGLIGIBLE = 1e-10  # of the largest singular value
OWN = 0.5  # of a direction's weight: if one point holds more, the direction is that point's own
LEAST_RESIDUAL = 1e-8  # below it a typical residual is rounding


class Subspaces(NamedTuple):
    """One subspace a cluster.

    Attributes
    ----------
    bases : list of ndarray of shape (dimension, n_features)
        Orthonormal rows; as many as the cluster's subspace has dimensions.
    dimensions : ndarray of shape (n_clusters,)
        The numbers of rows.
    residuals : ndarray of shape (n_samples,)
        Distance of each point, scaled to unit norm, from the subspace of its cluster.
    outlier_scores : ndarray of shape (n_samples,)
        The residual relative to the median of its cluster: one is typical, much more an outlier.
    """

    bases: list[np.ndarray]
    dimensions: np.ndarray
    residuals: np.ndarray
    outlier_scores: np.ndarray


def fit_subspaces(X, labels, n_clusters: int) -> Subspaces:
    """Fit a subspace to the points of every cluster, scaled to unit norm.

    Its dimension is the number of singular values beyond those of noise alone, by the threshold of
    Gavish and Donoho (2014) for an unknown level, which is a multiple of the median singular value.
    A direction that a single point holds more than half of is left out, lest an outlier lie in the
    subspace it spoils.
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


def squared_residual(X, dimension: int) -> float:
    """Return the sum of squared distances of unit points from their best subspace."""
    points = unit_rows(X)
    if not len(points) > dimension < points.shape[1]:
        return 0.0
    gram = points @ points.T if len(points) < points.shape[1] else points.T @ points
    return max(float(linalg.eigvalsh(gram)[:-dimension].sum()), 0.0)


def fit_basis(points) -> np.ndarray:
    """Return an orthonormal basis of the subspace near some points, one vector a row."""
    if len(points) == 0:
        return np.zeros((0, points.shape[1]))
    left, values, right = linalg.svd(points, full_matrices=False)
    shape = sorted(points.shape)
    aspect = shape[0] / shape[1]
    cut = (0.56 * aspect**3 - 0.95 * aspect**2 + 1.82 * aspect + 1.43) * np.median(values)
    signal = values > max(cut, NEGLIGIBLE * values[0])
    shared = np.max(left**2, axis=0) <= OWN
    kept = np.flatnonzero(signal & shared)
    return right[kept if len(kept) else [0]]
