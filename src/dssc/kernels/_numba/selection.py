"""The largest entries of the rows or columns of an array."""

from numba import prange

from dssc.kernels._numba.compiling import leaf, parallel

STRIP = 64  # columns whose heaps a thread keeps in cache


@parallel
def top_k(K, k, values, indices):
    """Write the `k` largest entries of every row of K, in no particular order."""
    for i in prange(K.shape[0]):
        _top_of_row(K[i], k, values[i], indices[i])


@parallel
def top_k_columns(K, k, values, indices):
    """Write the `k` largest entries of every column of K, in no particular order.

    A thread takes a strip of columns and goes down the rows, so that memory is read in order.
    """
    n, m = K.shape
    for strip in prange((m + STRIP - 1) // STRIP):
        columns = range(strip * STRIP, min(m, (strip + 1) * STRIP))
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
def _top_of_row(row, k, values, indices):
    # A heap of the k best so far, its smallest on top: most entries cost one comparison.
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


@leaf
def sift_down(values, indices, node, size):
    """Move a node of a heap with its smallest on top down to where it belongs."""
    value, index = values[node], indices[node]
    while True:
        child = 2 * node + 1
        if child >= size:
            break
        if child + 1 < size and values[child + 1] < values[child]:
            child += 1
        if values[child] >= value:
            break
        values[node], indices[node] = values[child], indices[child]
        node = child
    values[node], indices[node] = value, index
