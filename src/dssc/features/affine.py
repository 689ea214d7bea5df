"""Affine subspaces as linear ones, by homogeneous coordinates.

The points ``(x, 1)`` of an affine subspace of dimension d span a linear subspace of dimension
d + 1. So do all multiples of these points, in particular those of unit norm.
"""

import math

import numpy as np
from scipy import sparse

from dssc._typing import Matrix

# Squares of numbers with binary exponents up to this, of either sign, are far from the limits.
LARGEST_EXPONENT = 400


def homogeneous(X: Matrix, height: float) -> Matrix:
    """Return points with one more coordinate, equal to `height` for all of them."""
    column = np.full((X.shape[0], 1), height, dtype=X.dtype)
    if isinstance(X, np.ndarray):
        return np.hstack([X, column])
    return sparse.csr_array(sparse.hstack([X, sparse.csr_array(column)]))


def typical_norm(X: Matrix) -> float:
    """Return the root of the mean squared norm of points: a height that suits their scale.

    A power of two, which changes no digit, first keeps squares of tiny or huge values in range.
    """
    largest = max(float(X.max()), -float(X.min()))
    exponent = math.frexp(largest)[1]
    if abs(exponent) <= LARGEST_EXPONENT:
        exponent = 0
    elif isinstance(X, np.ndarray):
        X = np.ldexp(X, -exponent)
    else:
        X = X.copy()
        X.data = np.ldexp(X.data, -exponent)
    if isinstance(X, np.ndarray):
        total = np.einsum("ij,ij->", X, X, dtype=np.float64)
    else:
        total = X.multiply(X).sum(dtype=np.float64)
    with np.errstate(over="ignore"):
        height = np.ldexp(np.sqrt(total / X.shape[0]), exponent)
        is_in_range = np.isfinite(height.astype(X.dtype))
    if not is_in_range:
        raise ValueError(
            f"norms of rows of X exceed the range of {X.dtype}, max|X| = {largest:.3g}; divide X "
            "by a common factor"
        )
    return float(height)
