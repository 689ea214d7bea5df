"""Newton's steps for A in the proximal step of the coupling, on the CPU."""

from typing import NamedTuple

import numpy as np

from dssc._typing import Array
from dssc.joint.coupling import CG_STEPS, Candidates, CouplingCost, CouplingNewton, regularisation
from dssc.kernels import coupling as kernels


class CpuCouplingNewton(CouplingNewton[Array]):
    """A, its sums and Newton's direction by compiled loops over the candidates."""

    def __init__(self, cost: CouplingCost, candidates: Candidates[Array], n: int):
        self.candidates, self.n = candidates, n
        self.rows, self.columns = np.divmod(candidates.keys, n)
        self.indptr = np.searchsorted(self.rows, np.arange(n + 1))
        self.by_column = np.argsort(self.columns, kind="stable")
        self.lines, self.damping = cost.lines(), cost.damping
        self.slopes = np.zeros(len(self.columns))

    def evaluate(self, w: Array) -> tuple[Array, Array]:
        """Keep the slopes of the entries, zero where A is."""
        n = self.n
        A, row_sums = np.empty(len(self.columns)), np.empty(n)
        kernels.entry_values(
            self.indptr,
            self.columns,
            self.candidates.sizes,
            self.candidates.previous,
            w[:n],
            w[n:],
            self.lines,
            self.damping,
            A,
            self.slopes,
            row_sums,
        )
        column_sums = np.bincount(self.columns, A, n)
        return A, 1.0 - np.concatenate([row_sums, column_sums])

    def direction(self, missing: Array) -> Array:
        """Eliminate the rows, and solve for the columns by conjugate gradients."""
        n, positive = self.n, self.slopes > 0.0
        S = _entries(np.flatnonzero(positive), self.rows, self.columns, self.slopes, n)
        in_columns = self.by_column[positive[self.by_column]]
        S_T = _entries(in_columns, self.columns, self.rows, self.slopes, n)
        least, factor, tol = regularisation(self.lines, missing)
        by_row, by_column = (np.maximum(M.times(np.ones(n)), least) * factor for M in (S, S_T))
        rhs = missing[n:] - S_T.times(missing[:n] / by_row)
        b = np.zeros(n)
        kernels.solve_columns(*S.csr, *S_T.csr, by_row, by_column, rhs, tol, CG_STEPS, b)
        return np.concatenate([(missing[:n] - S.times(b)) / by_row, b])


class _Entries(NamedTuple):
    """A square sparse matrix: its parts in CSR form, and the row of every entry."""

    csr: tuple[Array, Array, Array]
    rows: Array

    def times(self, x: Array) -> Array:
        """Return the product with a vector."""
        indptr, columns, values = self.csr
        return np.bincount(self.rows, values * x[columns], len(indptr) - 1)


def _entries(at: Array, rows: Array, columns: Array, values: Array, n: int) -> _Entries:
    """Return the matrix of some entries, which come row by row."""
    indptr = np.searchsorted(rows[at], np.arange(n + 1))
    return _Entries((indptr, columns[at], values[at]), rows[at])
