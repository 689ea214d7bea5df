"""The loops of the doubly stochastic projection."""

import numpy as np

from dssc._typing import Array
from dssc.kernels.reference.csr import entry_rows


def slacks(indptr: Array, indices: Array, values: Array, w: Array, out: Array) -> None:
    """Write the slack ``values[i, j] - (w[i] + w[j])`` of every stored entry."""
    out[:] = values - (w[entry_rows(indptr)] + w[indices])


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
    slack = np.empty_like(values)
    slacks(indptr, indices, values, w, slack)
    rows = entry_rows(indptr)
    sums[:] = np.bincount(rows, np.maximum(slack, 0.0), minlength=len(w))
    squares[:] = np.bincount(rows, np.maximum(slack, 0.0) ** 2, minlength=len(w))
    counts[:] = np.bincount(rows, slack > 0, minlength=len(w))


def row_thresholds(
    indptr: Array, indices: Array, values: Array, w: Array, targets: Array, out: Array
) -> None:
    """Write the t of every row for which ``sum_j [values[i, j] - w[j] - t]_+ = targets[i]``."""
    for i in range(len(w)):
        row = slice(indptr[i], indptr[i + 1])
        entries = np.sort(values[row] - w[indices[row]])[::-1]
        candidates = (np.cumsum(entries) - targets[i]) / np.arange(1, len(entries) + 1)
        out[i] = candidates[np.flatnonzero(entries > candidates)[-1]]


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
    """Write the weighted sum of the positive slacks of every row, their weights, their number."""
    slack = np.empty_like(values)
    slacks(indptr, indices, values, w, slack)
    rows, positive = entry_rows(indptr), slack > 0
    sums[:] = np.bincount(rows, weights[indices] * np.maximum(slack, 0.0), minlength=len(w))
    degrees[:] = np.bincount(rows, weights[indices] * positive, minlength=len(w))
    counts[:] = np.bincount(rows, positive, minlength=len(w))


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
    for i in range(len(w)):
        row = slice(indptr[i], indptr[i + 1])
        entries = values[row] - w[indices[row]]
        order = np.argsort(-entries)
        entries, of_column = entries[order], weights[indices[row]][order]
        candidates = (np.cumsum(of_column * entries) - targets[i]) / np.cumsum(of_column)
        out[i] = candidates[np.flatnonzero(entries > candidates)[-1]]


def active_pattern(
    indptr: Array,
    indices: Array,
    values: Array,
    w: Array,
    active_indptr: Array,
    active_indices: Array,
) -> None:
    """Write the columns of the positive slacks, those of row i from ``active_indptr[i]`` on."""
    slack = np.empty_like(values)
    slacks(indptr, indices, values, w, slack)
    active_indices[: active_indptr[-1]] = indices[slack > 0]


def solve_pattern(
    indptr: Array, indices: Array, diagonal: Array, rhs: Array, tol: float, max_iter: int, x: Array
) -> tuple[float, int]:
    """Solve ``(diag(diagonal) + S) x = rhs`` by conjugate gradients.

    Returns the relative residual and the number of steps.
    """
    rows = entry_rows(indptr)
    x[:] = 0.0
    residual = rhs.copy()
    z = residual / diagonal
    direction = z.copy()
    rho = rho_start = residual @ z
    step = 0
    while step < max_iter and rho > tol * tol * rho_start:
        step += 1
        product = diagonal * direction
        product += np.bincount(rows, direction[indices], minlength=len(x))
        curvature = direction @ product
        if not curvature > 0.0:
            break
        length = rho / curvature
        x += length * direction
        residual -= length * product
        z = residual / diagonal
        rho_next = residual @ z
        direction = z + (rho_next / rho) * direction
        rho = rho_next
    return (float(np.sqrt(rho / rho_start)) if rho_start > 0.0 else 0.0), step
