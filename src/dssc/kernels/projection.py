"""The loops of the doubly stochastic projection, over a symmetric sparse matrix.

The matrix comes in CSR form (`indptr`, `indices`, `values`), with one potential w[i] per row. See
:mod:`dssc.kernels` for the slack of an entry.
"""

import numpy as np
from numba import prange

from dssc._forking import Fork
from dssc._typing import Array
from dssc.kernels.arithmetic import dot
from dssc.kernels.compiling import (
    in_row_blocks,
    in_turn,
    leaf,
    parallel_in_proportion,
    parallel_inside,
    threads_for_elements,
)

# Entries from which a product runs on all threads. Waking them costs as much as this many entries.
THREADED_FROM = 30_000


def slacks(indptr: Array, indices: Array, values: Array, w: Array, out: Array) -> None:
    """Write the slack ``values[i, j] - (w[i] + w[j])`` of every stored entry."""
    in_row_blocks(_slacks, len(w), len(values), indptr, indices, values, w, out)


@leaf
def _slacks(
    first: int, last: int, indptr: Array, indices: Array, values: Array, w: Array, out: Array
) -> None:
    for i in range(first, last):
        for e in range(indptr[i], indptr[i + 1]):
            out[e] = values[e] - (w[i] + w[indices[e]])


@parallel_in_proportion
def row_sums(
    indptr: Array,
    indices: Array,
    values: Array,
    w: Array,
    sums: Array,
    squares: Array,
    counts: Array,
) -> None:
    """Write the sum, the sum of squares and the number of positive slacks of every row."""
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


@parallel_in_proportion
def weighted_row_sums(
    indptr: Array,
    indices: Array,
    values: Array,
    w: Array,
    weights: Array,
    sums: Array,
    degrees: Array,
    counts: Array,
) -> None:
    """Write the weighted sum of the positive slacks of every row, their weights, their number.

    The weight of an entry is that of its column.
    """
    for i in prange(len(w)):
        total = 0.0
        degree = 0.0
        count = 0
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            slack = values[e] - (w[i] + w[j])
            if slack > 0.0:
                total += weights[j] * slack
                degree += weights[j]
                count += 1
        sums[i] = total
        degrees[i] = degree
        counts[i] = count


def row_thresholds(
    indptr: Array, indices: Array, values: Array, w: Array, targets: Array, out: Array
) -> None:
    """Write the t of every row for which ``sum_j [values[i, j] - w[j] - t]_+ = targets[i]``."""
    in_row_blocks(_row_thresholds, len(w), len(values), indptr, indices, values, w, targets, out)


@leaf
def _row_thresholds(
    first: int,
    last: int,
    indptr: Array,
    indices: Array,
    values: Array,
    w: Array,
    targets: Array,
    out: Array,
) -> None:
    # Michelot's iteration: t increases until the set of entries above it stays the same, and is
    # exact then. The largest entry minus the target is a lower bound to start from.
    for i in range(first, last):
        t = -np.inf
        for e in range(indptr[i], indptr[i + 1]):
            t = max(t, values[e] - w[indices[e]] - targets[i])
        previous_count = -1
        while True:
            total = 0.0
            count = 0
            for e in range(indptr[i], indptr[i + 1]):
                excess = values[e] - w[indices[e]] - t
                if excess > 0.0:
                    total += excess
                    count += 1
            if count == previous_count or total <= targets[i]:
                break
            previous_count = count
            t += (total - targets[i]) / count
        out[i] = t


@parallel_in_proportion
def weighted_row_thresholds(
    indptr: Array,
    indices: Array,
    values: Array,
    w: Array,
    weights: Array,
    targets: Array,
    out: Array,
) -> None:
    """Write the t of every row as `row_thresholds`, with a weight for every column."""
    for i in prange(len(w)):
        out[i] = _weighted_threshold(
            indptr[i], indptr[i + 1], indices, values, w, weights, targets[i]
        )


@leaf
def _weighted_threshold(
    start: int,
    stop: int,
    indices: Array,
    values: Array,
    w: Array,
    weights: Array,
    target: float,
) -> float:
    # The iteration of `_row_thresholds`.
    t = -np.inf
    for e in range(start, stop):
        j = indices[e]
        t = max(t, values[e] - w[j] - target / weights[j])
    previous_count = -1
    while True:
        total = 0.0
        degree = 0.0
        count = 0
        for e in range(start, stop):
            j = indices[e]
            excess = values[e] - w[j] - t
            if excess > 0.0:
                total += weights[j] * excess
                degree += weights[j]
                count += 1
        if count == previous_count or total <= target:
            return t
        previous_count = count
        t += (total - target) / degree


def active_pattern(
    indptr: Array,
    indices: Array,
    values: Array,
    w: Array,
    active_indptr: Array,
    active_indices: Array,
) -> None:
    """Write the columns of the positive slacks, those of row i from ``active_indptr[i]`` on."""
    arrays = indptr, indices, values, w, active_indptr, active_indices
    in_row_blocks(_active_pattern, len(w), len(values), *arrays)


@leaf
def _active_pattern(
    first: int,
    last: int,
    indptr: Array,
    indices: Array,
    values: Array,
    w: Array,
    active_indptr: Array,
    active_indices: Array,
) -> None:
    # The processor predicts where the last positive slack is, but not which slacks are positive.
    for i in range(first, last):
        position, end = active_indptr[i], active_indptr[i + 1]
        for e in range(indptr[i], indptr[i + 1]):
            if position == end:
                break
            active_indices[position] = indices[e]
            position += values[e] - (w[i] + w[indices[e]]) > 0.0


@parallel_inside
def _threaded_product(indptr: Array, indices: Array, diagonal: Array, x: Array, out: Array) -> None:
    for i in prange(len(x)):
        total = diagonal[i] * x[i]
        for e in range(indptr[i], indptr[i + 1]):
            total += x[indices[e]]
        out[i] = total


@leaf
def _serial_product(indptr: Array, indices: Array, diagonal: Array, x: Array, out: Array) -> None:
    for i in range(len(x)):
        total = diagonal[i] * x[i]
        for e in range(indptr[i], indptr[i + 1]):
            total += x[indices[e]]
        out[i] = total


@leaf
def _advance(
    x: Array,
    residual: Array,
    z: Array,
    direction: Array,
    product: Array,
    diagonal: Array,
    length: float,
) -> None:
    for i in range(len(x)):
        x[i] += length * direction[i]
        residual[i] -= length * product[i]
        z[i] = residual[i] / diagonal[i]


def solve_pattern(
    indptr: Array, indices: Array, diagonal: Array, rhs: Array, tol: float, max_iter: int, x: Array
) -> tuple[float, int]:
    """Solve ``(diag(diagonal) + S) x = rhs`` by conjugate gradients.

    S is the matrix of ones at the entries of (`indptr`, `indices`). The iteration starts at zero,
    is preconditioned by the diagonal, and stops when the residual, relative to `rhs` in the
    preconditioner's norm, is at most `tol`. Returns this relative residual and the number of steps.
    """
    threaded_from = np.iinfo(np.int64).max if Fork.lost_threads else THREADED_FROM
    work = np.empty((4, len(x)))
    with in_turn(), threads_for_elements(len(indices)):
        arguments = tol, max_iter, threaded_from, *work, x
        return _solve_pattern(indptr, indices, diagonal, rhs, *arguments)


@leaf
def _solve_pattern(
    indptr: Array,
    indices: Array,
    diagonal: Array,
    rhs: Array,
    tol: float,
    max_iter: int,
    threaded_from: int,
    residual: Array,
    z: Array,
    direction: Array,
    product: Array,
    x: Array,
) -> tuple[float, int]:
    n = len(x)
    for i in range(n):
        x[i] = 0.0
        residual[i] = rhs[i]
        z[i] = direction[i] = rhs[i] / diagonal[i]
    rho = dot(residual, z)
    rho_start = rho
    step = 0
    while step < max_iter and rho > tol * tol * rho_start:
        step += 1
        if len(indices) >= threaded_from:
            _threaded_product(indptr, indices, diagonal, direction, product)
        else:
            _serial_product(indptr, indices, diagonal, direction, product)
        curvature = dot(direction, product)
        if not curvature > 0.0:
            break
        _advance(x, residual, z, direction, product, diagonal, rho / curvature)
        rho_next = dot(residual, z)
        ratio = rho_next / rho
        for i in range(n):
            direction[i] = z[i] + ratio * direction[i]
        rho = rho_next
    return (np.sqrt(rho / rho_start) if rho_start > 0.0 else 0.0), step
