"""Helpers for matrices in CSR form."""

import numpy as np

from dssc._typing import Array


def entry_rows(indptr: Array) -> Array:
    """Return the row of every entry."""
    return np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))


def dense(indptr: Array, indices: Array, values: Array, shape: tuple[int, int]) -> Array:
    """Return the matrix as a dense array."""
    out = np.zeros(shape, dtype=values.dtype)
    out[entry_rows(indptr), indices] = values
    return out
