"""The loops of the joint model's solvers."""

from collections.abc import Iterator

import numpy as np

from dssc._typing import Array
from dssc.kernels.reference.csr import dense


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
    """Take the proximal step in C_p and C_q and minimise over A, (first_lin) to (first_min)."""
    drift = eta1 * eta2 * A - eta3
    up = C_p + tau * (gradient - eta1 * C_q + drift)
    down = C_q + tau * (-gradient - eta1 * C_p + drift)
    for C, step in ((C_p, up), (C_q, down)):
        C[:] = np.maximum(step, 0.0) / (1.0 + tau * eta1)
        np.fill_diagonal(C, 0.0)
    total = eta1 * eta2 * (C_p + C_q) + rho * A + rows[:, None] + columns
    A[:] = np.maximum(total, 0.0) / (eta1 * eta2**2 + rho)
    gradient[:] = C_p - C_q
    row_sums[:] = A.sum(axis=1)


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
    """Write every row's quadratic in A where all coefficients of the row are nonzero."""
    for i, (at, block) in enumerate(_row_blocks(indptr, offsets, blocks)):
        j, s = columns[at], eta2 * signs[at]
        block[:] = np.outer(s, s) * (H[np.ix_(j, j)] + inflation[i] * np.outer(H[i, j], H[i, j]))
        block[np.diag_indices(len(j))] += np.where(s == 0.0, eta1 * eta2**2, 0.0)
        linear[at] = s * H[i, j] * eta1 * inflation[i]


def invert_blocks(
    indptr: Array, offsets: Array, blocks: Array, diagonal: Array, out: Array
) -> None:
    """Write the inverse of every positive definite block plus its part of a diagonal."""
    inverses = _row_blocks(indptr, offsets, out)
    for (at, block), (_, inverse) in zip(
        _row_blocks(indptr, offsets, blocks), inverses, strict=True
    ):
        inverse[:] = np.linalg.inv(block + np.diag(diagonal[at]))


def block_products(indptr: Array, offsets: Array, blocks: Array, x: Array, out: Array) -> None:
    """Write the product of the block diagonal matrix with a vector."""
    for at, block in _row_blocks(indptr, offsets, blocks):
        out[at] = block @ x[at]


def column_system(
    indptr: Array,
    columns: Array,
    offsets: Array,
    inverses: Array,
    row_products: Array,
    totals: Array,
    out: Array,
) -> None:
    """Add the matrix of the column sums' equations to the lower part of `out`."""
    for i, (at, inverse) in enumerate(_row_blocks(indptr, offsets, inverses)):
        system = np.zeros(out.shape)
        places = np.ix_(columns[at], columns[at])
        system[places] = inverse - np.outer(row_products[at], row_products[at]) / totals[i]
        out += np.tril(system)


def _row_blocks(indptr: Array, offsets: Array, blocks: Array) -> Iterator[tuple[slice, Array]]:
    """Yield the entries of each row and a view of its block."""
    for i in range(len(indptr) - 1):
        size = indptr[i + 1] - indptr[i]
        block = blocks[offsets[i] : offsets[i + 1]].reshape(size, size)
        yield slice(indptr[i], indptr[i + 1]), block


def count_candidates(z: Array, rows: Array, columns: Array, limit: float, counts: Array) -> None:
    """Count the candidates of each row: the entries of z where A can be positive."""
    counts[:] = _candidates(z, rows, columns, limit).sum(axis=1)


def list_candidates(
    z: Array, rows: Array, columns: Array, limit: float, indptr: Array, out: Array
) -> None:
    """Write the columns of the entries that `count_candidates` counts, row by row."""
    out[:] = np.nonzero(_candidates(z, rows, columns, limit))[1]


def _candidates(z: Array, rows: Array, columns: Array, limit: float) -> Array:
    p = rows[:, None] + columns
    return (p > 0.0) | (np.abs(z) + p > limit) | np.eye(len(z), dtype=bool)


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
    target = eta2 * dense(indptr, columns, values, z.shape) - eta3 / eta1
    size = np.abs(z)
    shrunk = np.maximum((rho * size + eta1 * target) / (rho + eta1), 0.0)
    out[:] = np.where(z >= 0.0, 1.0, -1.0) * np.where(size > target, shrunk, size)
    np.fill_diagonal(out, 0.0)
