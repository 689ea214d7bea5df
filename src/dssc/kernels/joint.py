"""The loops of the joint model's solvers.

Several kernels work on one quadratic per row i, in the entries of A from ``indptr[i]`` to
``indptr[i + 1]``. Their matrices are dense blocks, stored one after the other: the block of row i
starts at ``offsets[i]``.
"""

import numpy as np
from numba import prange

from dssc._typing import Array
from dssc.kernels.compiling import leaf, parallel

# The smallest pivot of a factor. Rounding can make a pivot zero or negative.
SMALLEST_PIVOT = 1e-300


@parallel
def linearized_step(
    C_p: Array,
    C_q: Array,
    A: Array,
    rows: Array,
    columns: Array,
    tau: float,
    rho: float,
    eta1: float,
    eta2: float,
    eta3: float,
    gradient: Array,
    row_sums: Array,
) -> None:
    """Take the proximal step in C_p and C_q and minimise over A, (first_lin) to (first_min).

    `gradient` holds the descent direction of C and is overwritten by the new ``C_p - C_q``.
    `rows` and `columns` hold the two parts of ``Lambda_1 + rho Y - rho A``.
    """
    n = len(C_p)
    shrink = 1.0 / (1.0 + tau * eta1)
    scale = 1.0 / (eta1 * eta2 * eta2 + rho)
    pull = eta1 * eta2
    for i in prange(n):
        total = 0.0
        for j in range(n):
            if i == j:
                p = 0.0
                q = 0.0
            else:
                step = tau * gradient[i, j]
                drift = tau * (pull * A[i, j] - eta3)
                old_p = C_p[i, j]
                old_q = C_q[i, j]
                p = max(0.0, shrink * (old_p + step - tau * eta1 * old_q + drift))
                q = max(0.0, shrink * (old_q - step - tau * eta1 * old_p + drift))
            a = max(0.0, scale * (pull * (p + q) + rho * A[i, j] + rows[i] + columns[j]))
            C_p[i, j] = p
            C_q[i, j] = q
            A[i, j] = a
            gradient[i, j] = p - q
            total += a
        row_sums[i] = total


@parallel
def common_blocks(
    indptr: Array,
    columns: Array,
    signs: Array,
    offsets: Array,
    H: Array,
    inflation: Array,
    eta1: float,
    eta2: float,
    blocks: Array,
    linear: Array,
) -> None:
    """Write every row's quadratic in A where all coefficients of the row are nonzero.

    With ``H = eta1 K (K + eta1 I)^-1``, leaving point i out of its own row adds the rank-one term
    ``inflation_i H_ij H_ik``. A sign of zero marks an entry of A that has no coefficient.
    """
    for i in prange(len(indptr) - 1):
        first = indptr[i]
        size = indptr[i + 1] - first
        for r in range(size):
            at = offsets[i] + r * size
            j = columns[first + r]
            sign = eta2 * signs[first + r]
            for c in range(size):
                k = columns[first + c]
                value = H[j, k] + H[i, j] * H[i, k] * inflation[i]
                blocks[at + c] = sign * eta2 * signs[first + c] * value
            linear[first + r] = sign * H[i, j] * eta1 * inflation[i]
            if sign == 0.0:
                blocks[at + r] = eta1 * eta2 * eta2


@parallel
def invert_blocks(
    indptr: Array, offsets: Array, blocks: Array, diagonal: Array, out: Array
) -> None:
    """Write the inverse of every positive definite block plus its part of a diagonal."""
    for i in prange(len(indptr) - 1):
        size = indptr[i + 1] - indptr[i]
        L = np.empty((size, size))
        _factorise(blocks[offsets[i] : offsets[i + 1]], diagonal[indptr[i] : indptr[i + 1]], L)
        for r in range(size):
            for c in range(r + 1):
                total = 0.0
                for k in range(r, size):
                    total += L[k, r] * L[k, c]
                out[offsets[i] + r * size + c] = total
                out[offsets[i] + c * size + r] = total


@leaf
def _factorise(block: Array, diagonal: Array, L: Array) -> None:
    """Write the inverse of the Cholesky factor into the lower part of L."""
    size = len(L)
    for r in range(size):
        for c in range(r + 1):
            total = block[r * size + c]
            if r == c:
                total += diagonal[r]
            for k in range(c):
                total -= L[r, k] * L[c, k]
            L[r, c] = np.sqrt(max(total, SMALLEST_PIVOT)) if r == c else total / L[c, c]
    for c in range(size):
        L[c, c] = 1.0 / L[c, c]
        for r in range(c + 1, size):
            total = 0.0
            for k in range(c, r):
                total -= L[r, k] * L[k, c]
            L[r, c] = total / L[r, r]


@parallel
def block_products(indptr: Array, offsets: Array, blocks: Array, x: Array, out: Array) -> None:
    """Write the product of the block diagonal matrix with a vector."""
    for i in prange(len(indptr) - 1):
        first = indptr[i]
        size = indptr[i + 1] - first
        for r in range(size):
            total = 0.0
            for c in range(size):
                total += blocks[offsets[i] + r * size + c] * x[first + c]
            out[first + r] = total


@leaf
def column_system(
    indptr: Array,
    columns: Array,
    offsets: Array,
    inverses: Array,
    row_products: Array,
    totals: Array,
    out: Array,
) -> None:
    """Add the matrix of the column sums' equations to the lower part of `out`.

    It is the Schur complement that remains when the equations of the row sums are eliminated.
    `row_products` holds the row sums of the blocks `inverses`, and `totals` the sums of all their
    entries.
    """
    for i in range(len(indptr) - 1):
        first = indptr[i]
        size = indptr[i + 1] - first
        for r in range(size):
            j = columns[first + r]
            factor = row_products[first + r] / totals[i]
            for c in range(size):
                k = columns[first + c]
                if k <= j:
                    value = inverses[offsets[i] + r * size + c] - factor * row_products[first + c]
                    out[j, k] += value


@parallel
def count_candidates(z: Array, rows: Array, columns: Array, limit: float, counts: Array) -> None:
    """Count the candidates of each row: the entries of z where A can be positive.

    These have ``|z| + rows + columns > limit`` or ``rows + columns > 0``, or lie on the diagonal.
    """
    for i in prange(len(z)):
        count = 0
        for j in range(len(z)):
            p = rows[i] + columns[j]
            count += (i == j) | (p > 0.0) | (abs(z[i, j]) + p > limit)
        counts[i] = count


@parallel
def list_candidates(
    z: Array, rows: Array, columns: Array, limit: float, indptr: Array, out: Array
) -> None:
    """Write the columns of the entries that `count_candidates` counts, row by row."""
    for i in prange(len(z)):
        at = indptr[i]
        for j in range(len(z)):
            p = rows[i] + columns[j]
            if (i == j) | (p > 0.0) | (abs(z[i, j]) + p > limit):
                out[at] = j
                at += 1


@parallel
def coupling_step(
    z: Array,
    indptr: Array,
    columns: Array,
    values: Array,
    rho: float,
    eta1: float,
    eta2: float,
    eta3: float,
    out: Array,
) -> None:
    """Write the C of the proximal step of the coupling at z, for a given A in CSR form."""
    scale = 1.0 / (rho + eta1)
    for i in prange(len(z)):
        for j in range(len(z)):
            v = z[i, j]
            c = max(0.0, scale * (rho * abs(v) - eta3))
            out[i, j] = c if v >= 0.0 else -c
        for k in range(indptr[i], indptr[i + 1]):
            j = columns[k]
            v = z[i, j]
            size = abs(v)
            target = eta2 * values[k] - eta3 / eta1
            if size > target:
                size = max(0.0, scale * (rho * size + eta1 * target))
            out[i, j] = size if v >= 0.0 else -size
        out[i, i] = 0.0
