"""Newton's steps for A in the proximal step of the coupling, on the CPU."""

import numpy as np
from scipy import sparse

from dssc._typing import Array
from dssc.joint.coupling import CG_STEPS, Candidates, CouplingCost, CouplingNewton, regularisation
from dssc.kernels import coupling as kernels


class CpuCouplingNewton(CouplingNewton[Array]):
    """A, its sums and Newton's direction by compiled loops over the candidates."""

    def __init__(self, cost: CouplingCost, candidates: Candidates[Array], n: int):
        self.candidates, self.n = candidates, n
        self.indptr = np.searchsorted(candidates.keys, np.arange(n + 1) * n)
        self.columns = candidates.keys % n
        self.lines, self.damping = cost.lines(), cost.damping
        self.all_slopes = np.empty(len(self.columns))
        self.slopes = sparse.csr_array((n, n))

    def evaluate(self, w: Array) -> tuple[Array, Array]:
        """Keep the slopes of the positive entries in CSR form."""
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
            self.all_slopes,
            row_sums,
        )
        on = np.flatnonzero(A)
        self.slopes = sparse.csr_array(
            (self.all_slopes[on], self.columns[on], np.searchsorted(on, self.indptr)), shape=(n, n)
        )
        column_sums = np.bincount(self.slopes.indices, A[on], n)
        return A, 1.0 - np.concatenate([row_sums, column_sums])

    def direction(self, missing: Array) -> Array:
        """Eliminate the rows, and solve for the columns by conjugate gradients."""
        n, S, S_T = self.n, self.slopes, self.slopes.T.tocsr()
        least, factor, tol = regularisation(self.lines, missing)
        by_row, by_column = (np.maximum(M.sum(axis=1), least) * factor for M in (S, S_T))
        rhs = missing[n:] - S_T @ (missing[:n] / by_row)
        b = np.zeros(n)
        parts = (S.indptr, S.indices, S.data, S_T.indptr, S_T.indices, S_T.data, by_row, by_column)
        kernels.solve_columns(*parts, rhs, tol, CG_STEPS, b)
        return np.concatenate([(missing[:n] - S @ b) / by_row, b])
