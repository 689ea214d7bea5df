"""Affine subspaces as linear ones, by homogeneous coordinates.

The points ``(x, 1)`` of an affine subspace of dimension d span a linear subspace of dimension
d + 1. So do all multiples of these points, in particular those of unit norm.
"""

import numpy as np
from scipy import sparse

from dssc._typing import Matrix


def homogeneous(X: Matrix, height: float) -> Matrix:
    """Return points with one more coordinate, equal to `height` for all of them."""
    column = np.full((X.shape[0], 1), height, dtype=X.dtype)
    if isinstance(X, np.ndarray):
        return np.hstack([X, column])
    return sparse.csr_array(sparse.hstack([X, sparse.csr_array(column)]))


def typical_norm(X: Matrix) -> float:
    """Return the root of the mean squared norm of points: a height that suits their scale."""
    if isinstance(X, np.ndarray):
        total = np.einsum("ij,ij->", X, X, dtype=np.float64)
    else:
        total = X.multiply(X).sum(dtype=np.float64)
    return float(np.sqrt(total / X.shape[0]))
