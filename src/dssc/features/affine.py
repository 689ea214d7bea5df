"""Affine subspaces as linear ones, by homogeneous coordinates.

The points ``(x, 1)`` of an affine subspace of dimension d span a linear one of dimension d + 1, and
so do all multiples of them, in particular those of unit norm.
"""

import numpy as np
from scipy import sparse


def homogeneous(X, height: float):
    """Return points with one more coordinate, the same for all of them."""
    column = np.full((X.shape[0], 1), height, dtype=X.dtype)
    if sparse.issparse(X):
        return sparse.csr_array(sparse.hstack([X, sparse.csr_array(column)]))
    return np.hstack([X, column])


def typical_norm(X) -> float:
    """Return the root of the mean squared norm of points: a height that suits their scale."""
    if sparse.issparse(X):
        total = X.multiply(X).sum(dtype=np.float64)
    else:
        total = np.einsum("ij,ij->", X, X, dtype=np.float64)
    return float(np.sqrt(total / X.shape[0]))
