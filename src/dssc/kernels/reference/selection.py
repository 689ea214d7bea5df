"""The largest entries of the rows or columns of a matrix."""

import numpy as np

from dssc._typing import Array


def top_k(K: Array, k: int, values: Array, indices: Array) -> None:
    """Write the `k` largest entries of every row of K, in no particular order."""
    indices[:] = np.argsort(-K, axis=1, kind="stable")[:, :k]
    values[:] = np.take_along_axis(K, indices.astype(np.intp), axis=1)


def top_k_columns(K: Array, k: int, values: Array, indices: Array) -> None:
    """Write the `k` largest entries of every column of K, in no particular order."""
    top_k(K.T, k, values, indices)
