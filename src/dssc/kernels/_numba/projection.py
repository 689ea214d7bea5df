"""The projection's loops over the entries of a symmetric sparse matrix."""

import numpy as np
from numba import prange

from dssc.kernels._numba.arithmetic import dot
from dssc.kernels._numba.compiling import leaf, parallel

THREADED_FROM = 30_000  # entries: waking threads costs as much as a product of that size


@parallel
def slacks(indptr, indices, values, w, out):
    """Write ``values[i, j] - w[i] - w[j]`` for every stored entry."""
    for i in prange(len(w)):
        for e in range(indptr[i], indptr[i + 1]):
            out[e] = values[e] - (w[i] + w[indices[e]])


@parallel
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


@parallel
def row_thresholds(indptr, indices, values, w, targets, out):
    """Write for every row the t at which ``sum_j [values[i, j] - w[j] - t]_+ = targets[i]``."""
    for i in prange(len(w)):
        out[i] = _threshold(indptr[i], indptr[i + 1], indices, values, w, targets[i])


@leaf
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


@parallel
def active_pattern(indptr, indices, values, w, active_indptr, active_indices):
    """Write the columns of the positive slacks; `active_indptr` holds their offsets already."""
    for i in prange(len(w)):
        position = active_indptr[i]
        for e in range(indptr[i], indptr[i + 1]):
            if values[e] - (w[i] + w[indices[e]]) > 0.0:
                active_indices[position] = indices[e]
                position += 1


@leaf
def _row_product(indptr, indices, diagonal, x, i):
    total = diagonal[i] * x[i]
    for e in range(indptr[i], indptr[i + 1]):
        total += x[indices[e]]
    return total


@parallel
def _threaded_product(indptr, indices, diagonal, x, out):
    for i in prange(len(x)):
        out[i] = _row_product(indptr, indices, diagonal, x, i)


@leaf
def _pattern_product(indptr, indices, diagonal, x, out):
    if len(indices) >= THREADED_FROM:
        _threaded_product(indptr, indices, diagonal, x, out)
    else:
        for i in range(len(x)):
            out[i] = _row_product(indptr, indices, diagonal, x, i)


@leaf
def _advance(x, residual, direction, product, length):
    for i in range(len(x)):
        x[i] += length * direction[i]
        residual[i] -= length * product[i]


@leaf
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
    rho = dot(residual, z)
    rho_start = rho
    step = 0
    while step < max_iter and rho > tol * tol * rho_start:
        step += 1
        _pattern_product(indptr, indices, diagonal, direction, product)
        curvature = dot(direction, product)
        if not curvature > 0.0:
            break
        _advance(x, residual, direction, product, rho / curvature)
        z = residual / diagonal
        rho_next = dot(residual, z)
        direction = z + (rho_next / rho) * direction
        rho = rho_next
    return (np.sqrt(rho / rho_start) if rho_start > 0.0 else 0.0), step
