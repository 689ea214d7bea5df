"""Affine subspaces as linear ones, by homogeneous coordinates.

The points ``(x, 1)`` of an affine subspace of dimension d span a linear subspace of dimension
d + 1. So do all multiples of these points, in particular those of unit norm.
"""

import math
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from dssc._cluster_rows import ClusterRows
from dssc._typing import Array, Matrix
from dssc.features.by_rows import map_rows

# Squares of numbers with binary exponents up to this, of either sign, are far from the limits.
LARGEST_EXPONENT = 400


def homogeneous(X: Any, height: float) -> Any:
    """Return points with one more coordinate, equal to `height` for all of them."""
    if isinstance(X, ClusterRows):
        chunks = X.array.chunks[0], (X.shape[1] + 1,)
        return ClusterRows(X.array.map_blocks(homogeneous, height=height, chunks=chunks))
    column = np.full((X.shape[0], 1), height, dtype=X.dtype)
    if isinstance(X, np.ndarray):
        return np.hstack([X, column])
    return sparse.csr_array(sparse.hstack([X, sparse.csr_array(column)]))


def typical_norm(X: Any) -> float:
    """Return the root of the mean squared norm of points: a height that suits their scale.

    A power of two, which changes no digit, first keeps squares of tiny or huge values in range.
    """
    largest = float(map_rows(X, _largest_sizes, "size").max())
    exponent = math.frexp(largest)[1]
    if abs(exponent) <= LARGEST_EXPONENT:
        exponent = 0
    total = map_rows(X, partial(_squared_norms, exponent=exponent), "norm").sum()
    with np.errstate(over="ignore"):
        height = np.ldexp(np.sqrt(total / X.shape[0]), exponent)
        is_in_range = np.isfinite(height.astype(X.dtype))
    if not is_in_range:
        raise ValueError(
            f"norms of rows of X exceed the range of {X.dtype}, max|X| = {largest:.3g}; divide X "
            "by a common factor"
        )
    return float(height)


def _largest_sizes(rows: Matrix) -> Array:
    largest = abs(rows).max(axis=1)
    return largest.toarray().ravel() if sparse.issparse(largest) else largest


def _squared_norms(rows: Matrix, exponent: int) -> Array:
    """Return the squared norms of rows divided by a power of two."""
    if not isinstance(rows, np.ndarray):
        rows = rows.copy()
        rows.data = np.ldexp(rows.data, -exponent)
        return np.asarray(rows.multiply(rows).sum(axis=1, dtype=np.float64)).ravel()
    rows = np.ldexp(rows, -exponent) if exponent else rows
    return np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
