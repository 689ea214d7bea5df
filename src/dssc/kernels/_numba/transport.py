"""The loops of the joint model's transport problem, compiled by numba."""

import numpy as np
from numba import prange

from dssc.kernels._numba.compiling import leaf, parallel


@parallel
def entry_values(indptr, columns, sizes, last, a, b, lines, damping, values, slopes, row_sums):
    """Write A and its slope for every entry, and the row sums of A.

    `lines` holds, of each of the three lines in ``a + b`` whose largest value is A, the slope, the
    factor of |V|, and the constant; the third does not count if its slope is zero. On the diagonal
    only the second one counts.
    """
    for i in prange(len(indptr) - 1):
        total = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            j = columns[k]
            p = a[i] + b[j] + damping * last[k]
            x = lines[1, 0] * p
            slope = lines[1, 0]
            if i != j:
                other = lines[0, 0] * p + lines[0, 1] * sizes[k] + lines[0, 2]
                if other > x:
                    x = other
                    slope = lines[0, 0]
                other = lines[2, 0] * p + lines[2, 2]
                if lines[2, 0] > 0.0 and other > x:
                    x = other
                    slope = lines[2, 0]
            if x <= 0.0:
                x = 0.0
                slope = 0.0
            values[k] = x
            slopes[k] = slope
            total += x
        row_sums[i] = total


@leaf
def _sparse_product(indptr, columns, values, x, out):
    for i in range(len(indptr) - 1):
        total = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            total += values[k] * x[columns[k]]
        out[i] = total


@leaf
def solve_columns(
    indptr, columns, values, t_indptr, t_columns, t_values, by_row, by_column, rhs, tol, most, x
):
    """Solve ``(D - S' R^-1 S) x = rhs`` by conjugate gradients, x being zero at first.

    S comes by rows and, transposed, by columns; R and D are diagonal.
    """
    n = len(rhs)
    residual = rhs.copy()
    direction = residual / by_column
    product = np.empty(n)
    between = np.empty(n)
    rho = 0.0
    for i in range(n):
        rho += residual[i] * direction[i]
    target = tol * tol * rho
    for _ in range(most):
        if not rho > target:
            break
        _sparse_product(indptr, columns, values, direction, between)
        for i in range(n):
            between[i] /= by_row[i]
        _sparse_product(t_indptr, t_columns, t_values, between, product)
        curvature = 0.0
        for i in range(n):
            product[i] = by_column[i] * direction[i] - product[i]
            curvature += direction[i] * product[i]
        if not curvature > 0.0:
            break
        length = rho / curvature
        fresh = 0.0
        for i in range(n):
            x[i] += length * direction[i]
            residual[i] -= length * product[i]
            fresh += residual[i] * residual[i] / by_column[i]
        ratio = fresh / rho
        rho = fresh
        for i in range(n):
            direction[i] = residual[i] / by_column[i] + ratio * direction[i]
