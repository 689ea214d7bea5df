"""The kernels compiled by numba.

Every row is summed by one thread in a fixed order and every dot product runs in one thread, so the
results do not depend on the number of threads. Compiled code is cached on disk.
"""

import numpy as np
from numba import njit, prange

THREADED_FROM = 30_000  # entries: waking threads costs as much as a product of that size
STRIP = 64  # columns whose heaps a thread keeps in cache

_parallel = njit(parallel=True, cache=True, nogil=True, error_model="numpy")
_leaf = njit(cache=True, nogil=True, error_model="numpy")
# Reassociation lets the compiler vectorise a sum; the order is still fixed at compile time.
_reduction = njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})


@_parallel
def slacks(indptr, indices, values, w, out):
    """Write ``values[i, j] - w[i] - w[j]`` for every stored entry."""
    for i in prange(len(w)):
        for e in range(indptr[i], indptr[i + 1]):
            out[e] = values[e] - (w[i] + w[indices[e]])


@_parallel
def row_sums(indptr, indices, values, w, sums, squares, counts):
    """Write the sum, the sum of squares and the number of the positive slacks of every row."""
    for i in prange(len(w)):
        total = 0.0
        total_squares = 0.0
        count = 0
        for e in range(indptr[i], indptr[i + 1]):
            slack = values[e] - (w[i] + w[indices[e]])
            if slack > 0.0:
                total += slack
                total_squares += slack * slack
                count += 1
        sums[i] = total
        squares[i] = total_squares
        counts[i] = count


@_parallel
def row_thresholds(indptr, indices, values, w, targets, out):
    """Write for every row the t at which ``sum_j [values[i, j] - w[j] - t]_+ = targets[i]``."""
    for i in prange(len(w)):
        out[i] = _threshold(indptr[i], indptr[i + 1], indices, values, w, targets[i])


@_leaf
def _threshold(start, stop, indices, values, w, target):
    # Michelot's iteration: the mean over the entries above t can only rise, and ends exactly.
    # It starts below every threshold, at the largest entry less the whole target.
    t = -np.inf
    for e in range(start, stop):
        t = max(t, values[e] - w[indices[e]] - target)
    previous_count = -1
    while True:
        total = 0.0
        count = 0
        for e in range(start, stop):
            excess = values[e] - w[indices[e]] - t
            if excess > 0.0:
                total += excess
                count += 1
        if count == previous_count or total <= target:
            return t
        previous_count = count
        t += (total - target) / count


@_parallel
def active_pattern(indptr, indices, values, w, active_indptr, active_indices):
    """Write the columns of the positive slacks; `active_indptr` holds their offsets already."""
    for i in prange(len(w)):
        position = active_indptr[i]
        for e in range(indptr[i], indptr[i + 1]):
            if values[e] - (w[i] + w[indices[e]]) > 0.0:
                active_indices[position] = indices[e]
                position += 1


@_leaf
def _row_product(indptr, indices, diagonal, x, i):
    total = diagonal[i] * x[i]
    for e in range(indptr[i], indptr[i + 1]):
        total += x[indices[e]]
    return total


@_parallel
def _threaded_product(indptr, indices, diagonal, x, out):
    for i in prange(len(x)):
        out[i] = _row_product(indptr, indices, diagonal, x, i)


@_leaf
def _pattern_product(indptr, indices, diagonal, x, out):
    if len(indices) >= THREADED_FROM:
        _threaded_product(indptr, indices, diagonal, x, out)
    else:
        for i in range(len(x)):
            out[i] = _row_product(indptr, indices, diagonal, x, i)


@_reduction
def _dot(x, y):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * y[i]
    return total


@_leaf
def _advance(x, residual, direction, product, length):
    for i in range(len(x)):
        x[i] += length * direction[i]
        residual[i] -= length * product[i]


@_leaf
def solve_pattern(indptr, indices, diagonal, rhs, tol, max_iter, x):
    """Solve ``(diag(diagonal) + S) x = rhs`` by conjugate gradients, S the pattern of ones.

    Starts at zero, preconditions by the diagonal, and stops at a residual of `tol` relative to
    `rhs` in the preconditioner's norm. Returns the relative residual reached and the steps taken.
    """
    x[:] = 0.0
    residual = rhs.copy()
    z = residual / diagonal
    direction = z.copy()
    product = np.empty_like(x)
    rho = _dot(residual, z)
    rho_start = rho
    step = 0
    while step < max_iter and rho > tol * tol * rho_start:
        step += 1
        _pattern_product(indptr, indices, diagonal, direction, product)
        curvature = _dot(direction, product)
        if not curvature > 0.0:
            break
        _advance(x, residual, direction, product, rho / curvature)
        z = residual / diagonal
        rho_next = _dot(residual, z)
        direction = z + (rho_next / rho) * direction
        rho = rho_next
    return (np.sqrt(rho / rho_start) if rho_start > 0.0 else 0.0), step


@_parallel
def top_k(K, k, values, indices):
    """Write the `k` largest entries of every row of K, in no particular order."""
    for i in prange(K.shape[0]):
        _top_of_row(K[i], k, values[i], indices[i])


@_parallel
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
                _sift_down(values[j], indices[j], node, k)
        for i in range(k, n):
            for j in columns:
                if K[i, j] > values[j, 0]:
                    values[j, 0] = K[i, j]
                    indices[j, 0] = i
                    _sift_down(values[j], indices[j], 0, k)


@_leaf
def _top_of_row(row, k, values, indices):
    # A heap of the k best so far, its smallest on top: most entries cost one comparison.
    for j in range(k):
        values[j] = row[j]
        indices[j] = j
    for node in range(k // 2 - 1, -1, -1):
        _sift_down(values, indices, node, k)
    for j in range(k, len(row)):
        if row[j] > values[0]:
            values[0] = row[j]
            indices[0] = j
            _sift_down(values, indices, 0, k)


@_leaf
def _sift_down(values, indices, node, size):
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


@_leaf
def filter_and_fold(transforms, filters, factor, out):
    """Write each transform times each filter, summed over frequencies that fold onto one.

    The last axis holds real and imaginary parts in turn, filters having each weight twice, so that
    the inner loop is one vector instruction after the other. Threads take blocks of images.
    """
    height, width = out.shape[2], out.shape[3]
    for i in range(transforms.shape[0]):
        for f in range(filters.shape[0]):
            for y in range(height):
                row = out[i, f, y]
                row[:] = 0.0
                for fold_y in range(factor):
                    for fold_x in range(factor):
                        columns = slice(fold_x * width, (fold_x + 1) * width)
                        weight = filters[f, y + fold_y * height, columns]
                        source = transforms[i, y + fold_y * height, columns]
                        for x in range(width):
                            row[x] += weight[x] * source[x]
