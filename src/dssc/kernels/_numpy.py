"""The kernels in plain NumPy: slow, obvious, and the oracle of every other engine."""

import numpy as np


def slacks(indptr, indices, values, w, out):
    """Write ``values[i, j] - w[i] - w[j]`` for every stored entry."""
    out[:] = values - (w[_rows(indptr)] + w[indices])


def row_sums(indptr, indices, values, w, sums, squares, counts):
    """Write the sum, the sum of squares and the number of the positive slacks of every row."""
    slack = np.empty_like(values)
    slacks(indptr, indices, values, w, slack)
    rows = _rows(indptr)
    sums[:] = np.bincount(rows, np.maximum(slack, 0.0), minlength=len(w))
    squares[:] = np.bincount(rows, np.maximum(slack, 0.0) ** 2, minlength=len(w))
    counts[:] = np.bincount(rows, slack > 0, minlength=len(w))


def row_thresholds(indptr, indices, values, w, targets, out):
    """Write for every row the t at which ``sum_j [values[i, j] - w[j] - t]_+ = targets[i]``."""
    for i in range(len(w)):
        row = slice(indptr[i], indptr[i + 1])
        entries = np.sort(values[row] - w[indices[row]])[::-1]
        candidates = (np.cumsum(entries) - targets[i]) / np.arange(1, len(entries) + 1)
        out[i] = candidates[np.flatnonzero(entries > candidates)[-1]]


def active_pattern(indptr, indices, values, w, active_indptr, active_indices):
    """Write the columns of the positive slacks; `active_indptr` holds their offsets already."""
    slack = np.empty_like(values)
    slacks(indptr, indices, values, w, slack)
    active_indices[: active_indptr[-1]] = indices[slack > 0]


def solve_pattern(indptr, indices, diagonal, rhs, tol, max_iter, x):
    """Solve ``(diag(diagonal) + S) x = rhs`` by conjugate gradients, S the pattern of ones.

    Starts at zero, preconditions by the diagonal, and stops at a residual of `tol` relative to
    `rhs` in the preconditioner's norm. Returns the relative residual reached and the steps taken.
    """
    rows = _rows(indptr)
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
    return (np.sqrt(rho / rho_start) if rho_start > 0.0 else 0.0), step


def top_k(K, k, values, indices):
    """Write the `k` largest entries of every row of K, in no particular order."""
    indices[:] = np.argsort(-K, axis=1, kind="stable")[:, :k]
    values[:] = np.take_along_axis(K, indices.astype(np.intp), axis=1)


def top_k_columns(K, k, values, indices):
    """Write the `k` largest entries of every column of K, in no particular order."""
    top_k(K.T, k, values, indices)


def filter_and_fold(transforms, filters, factor, out):
    """Write each transform times each filter, summed over frequencies that fold onto one.

    The last axis holds real and imaginary parts in turn, filters having each weight twice. With
    weights divided by ``factor**2``, the inverse transform of `out` is the filtered image at every
    factor-th pixel.
    """
    n, height, width = transforms.shape
    product = transforms[:, None] * filters[None]
    blocks = (n, len(filters), factor, height // factor, factor, width // factor)
    out[:] = product.reshape(blocks).sum(axis=(2, 4))


def _rows(indptr):
    return np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
