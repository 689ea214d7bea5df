"""The largest entries of the rows or columns of a matrix."""

from numba import prange

from dssc._typing import Array
from dssc.kernels.compiling import leaf, parallel
from dssc.kernels.heap import sift_down

# Columns that a thread handles together. Their heaps fit in its cache.
COLUMNS_PER_STRIP = 64


@parallel
def top_k(K: Array, k: int, values: Array, indices: Array) -> None:
    """Write the `k` largest entries of every row of K, in no particular order."""
    for i in prange(K.shape[0]):
        _top_of_row(K[i], k, values[i], indices[i])


@parallel
def top_k_columns(K: Array, k: int, values: Array, indices: Array) -> None:
    """Write the `k` largest entries of every column of K, in no particular order.

    A thread takes a strip of columns and goes down the rows, so that it reads memory in order.
    """
    n, m = K.shape
    for strip in prange((m + COLUMNS_PER_STRIP - 1) // COLUMNS_PER_STRIP):
        columns = range(strip * COLUMNS_PER_STRIP, min(m, (strip + 1) * COLUMNS_PER_STRIP))
        for i in range(k):
            for j in columns:
                values[j, i] = K[i, j]
                indices[j, i] = i
        for j in columns:
            for node in range(k // 2 - 1, -1, -1):
                sift_down(values[j], indices[j], node, k)
        for i in range(k, n):
            for j in columns:
                if K[i, j] > values[j, 0]:
                    values[j, 0] = K[i, j]
                    indices[j, 0] = i
                    sift_down(values[j], indices[j], 0, k)


@leaf
def _top_of_row(row: Array, k: int, values: Array, indices: Array) -> None:
    # A heap holds the k largest entries so far, so most entries cost one comparison.
    for j in range(k):
        values[j] = row[j]
        indices[j] = j
    for node in range(k // 2 - 1, -1, -1):
        sift_down(values, indices, node, k)
    for j in range(k, len(row)):
        if row[j] > values[0]:
            values[0] = row[j]
            indices[0] = j
            sift_down(values, indices, 0, k)
