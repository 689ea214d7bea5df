"""The loops of Newton's method for A in the proximal step of the joint model's coupling."""

import numpy as np

from dssc._typing import Array
from dssc.kernels.reference.csr import dense, entry_rows


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
    """Write A and its slope for every entry, and the row sums of A."""
    rows = entry_rows(indptr)
    p = a[rows] + b[columns] + damping * last
    choices = lines[:, :1] * p + lines[:, 1:2] * sizes + lines[:, 2:]
    choices[0, rows == columns] = choices[2, rows == columns] = -np.inf
    values[:] = np.maximum(choices.max(axis=0), 0.0)
    slopes[:] = np.where(values > 0.0, lines[choices.argmax(axis=0), 0], 0.0)
    row_sums[:] = np.bincount(rows, values, minlength=len(row_sums))


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
    """Solve ``(D - S' R^-1 S) x = rhs`` by a factorisation."""
    S = dense(indptr, columns, values, (len(by_row), len(by_column)))
    x[:] = np.linalg.solve(np.diag(by_column) - S.T @ (S / by_row[:, None]), rhs)
