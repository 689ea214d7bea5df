"""The loops of Newton's method for A in the proximal step of the joint model's coupling."""

import numpy as np
from numba import prange

from dssc._typing import Array
from dssc.kernels.compiling import leaf, parallel_in_proportion


@parallel_in_proportion
def entry_values(
    indptr: Array,
    columns: Array,
    sizes: Array,
    last: Array,
    a: Array,
    b: Array,
    lines: Array,
    damping: float,
    values: Array,
    slopes: Array,
    row_sums: Array,
) -> None:
    """Write A and its slope for every entry, and the row sums of A.

    An entry of A is the largest of three linear functions of ``p = a_i + b_j + damping last``, or
    zero where all are negative. Each row of `lines` holds the slope of one function, its factor of
    |V| (in `sizes`) and its constant. The second function is a multiple of p, and the third does
    not depend on |V|; a slope of zero excludes it. On the diagonal only the second one counts.
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
def _sparse_product(indptr: Array, columns: Array, values: Array, x: Array, out: Array) -> None:
    for i in range(len(indptr) - 1):
        total = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            total += values[k] * x[columns[k]]
        out[i] = total


@leaf
def solve_columns(
    indptr: Array,
    columns: Array,
    values: Array,
    t_indptr: Array,
    t_columns: Array,
    t_values: Array,
    by_row: Array,
    by_column: Array,
    rhs: Array,
    tol: float,
    max_iter: int,
    x: Array,
) -> None:
    """Solve ``(D - S' R^-1 S) x = rhs`` by conjugate gradients; x must be zero before.

    S is given in CSR form, and so is its transpose. The diagonals of R and D are `by_row` and
    `by_column`. The residual is reduced by the factor `tol` in the norm of ``D^-1``.
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
    for _ in range(max_iter):
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
        rho_next = 0.0
        for i in range(n):
            x[i] += length * direction[i]
            residual[i] -= length * product[i]
            rho_next += residual[i] * residual[i] / by_column[i]
        ratio = rho_next / rho
        rho = rho_next
        for i in range(n):
            direction[i] = residual[i] / by_column[i] + ratio * direction[i]
