"""The operations of the joint model on the CPU: NumPy, BLAS and compiled loops."""

import numpy as np
from scipy import linalg
from scipy.linalg import blas

from dssc import kernels
from dssc._typing import Array
from dssc.expression import least_squares_representation
from dssc.joint.acceleration import MEMORY
from dssc.joint.blocks import row_blocks
from dssc.joint.coupling_newton import CpuCouplingNewton
from dssc.joint.entries import Entries
from dssc.joint.gram_inverse import gram_inverse
from dssc.joint.operations import ALL_ROWS, JointOperations
from dssc.joint.penalty import CouplingPenalty
from dssc.kernels import joint as joint_kernels
from dssc.stochastic import ProjectionProblem


class CpuOperations(JointOperations[Array]):
    """Operations on NumPy arrays."""

    xp = np
    coupling_newton = CpuCouplingNewton

    def blocks(self, n_rows: int, n_columns: int) -> list[slice]:
        """Cut rows into slices that stay in the cache."""
        return row_blocks(n_rows, n_columns)

    def array(self, x: Array) -> Array:
        """Return the array itself."""
        return x

    def magnitudes(self, M: Array) -> Array:
        """Return |M| in float64."""
        return np.abs(M).astype(np.float64, copy=False)

    def sum_of_squares(self, M: Array) -> float:
        """Return |M|^2."""
        x = np.ravel(M)
        return float(np.einsum("i,i->", x, x, dtype=np.float64))

    def inner_products(self, R: Array, X: Array) -> tuple[float, float]:
        """Return ``<R, X>`` and ``|R|^2``."""
        return float(np.einsum("ij,ij->", R, X, dtype=np.float64)), self.sum_of_squares(R)

    def fill_diagonal(self, M: Array, value: float, first_row: int = 0) -> None:
        """Set the diagonal, by index."""
        rows = np.arange(len(M))
        M[rows, first_row + rows] = value

    def add_to_diagonal(self, M: Array, value: float) -> None:
        """Add a number to every entry of the diagonal."""
        M.ravel()[:: len(M) + 1] += value

    def entries_at(self, M: Array, rows: Array, columns: Array) -> Array:
        """Return entries of M."""
        return M[rows, columns]

    def raise_entries(self, M: Array, rows: Array, columns: Array, least: Array) -> None:
        """Raise entries of M to at least the given values."""
        M[rows, columns] = np.maximum(M[rows, columns], least)

    def residual(self, X: Array, C: Array, rows: slice = ALL_ROWS) -> Array:
        """Return rows of ``X - C X``."""
        R = C[rows] @ X
        np.subtract(X[rows], R, out=R)
        return R

    def least_squares(self, X: Array, eta1: float) -> Array:
        """Return the representation of :func:`dssc.least_squares_representation`."""
        return np.ascontiguousarray(least_squares_representation(X, eta1))

    def projection_problem(self, W: Array) -> ProjectionProblem:
        """Return the problem for an array."""
        return ProjectionProblem.of_matrix(W)

    def summand(self, vector: Array, M: Array) -> Array:
        """Return the vector itself: it is added in float64."""
        return vector

    def add_scaled(self, x: Array, y: Array, factor: float) -> None:
        """Add ``factor * y`` to a contiguous x by BLAS."""
        axpy = blas.get_blas_funcs("axpy", (x,))
        axpy(y.ravel(), x.ravel(), a=factor)

    def plus_scaled(self, x: Array, y: Array, factor: float) -> Array:
        """Return ``x + factor * y``."""
        return x + factor * y

    def linearized_step(
        self,
        C_p: Array,
        C_q: Array,
        A: Array,
        direction: Array,
        push: tuple[Array, Array],
        penalty: CouplingPenalty,
        tau: float,
        rho: float,
    ) -> tuple[Array, Array]:
        """Update row by row in one compiled loop."""
        row_sums = np.empty(len(A))
        joint_kernels.linearized_step(C_p, C_q, A, *push, tau, rho, *penalty, direction, row_sums)
        return row_sums, A.sum(axis=0, dtype=np.float64)

    def n_remembered(self, X: Array) -> int:
        """Return fewer steps for float32: the memory of a step is no smaller than z there."""
        return MEMORY if X.dtype == np.float64 else 1

    def empty_square(self, X: Array, single: bool = False) -> Array:
        """Return an uninitialised n x n array."""
        return np.empty((len(X), len(X)), dtype=np.float32 if single else X.dtype)

    def largest_keys(self, M: Array, count: int) -> Array:
        """Select from a few rows or columns at a time."""
        n = len(M)
        count = min(count, n - 1)
        keys = [np.arange(n) * (n + 1)]
        for transposed in (False, True):
            part = M.T if transposed else M
            for rows in row_blocks(n, n):
                sizes = np.abs(part[rows], order="C")
                self.fill_diagonal(sizes, -np.inf, rows.start)
                columns = np.empty((len(sizes), count), dtype=np.int64)
                kernels.top_k(sizes, count, np.empty(columns.shape, M.dtype), columns)
                i, j = np.repeat(np.arange(rows.start, rows.stop), count), columns.ravel()
                keys.append(j * n + i if transposed else i * n + j)
        return np.unique(np.concatenate(keys))

    def keys_above(self, M: Array, rows: Array, columns: Array, limit: float) -> Array:
        """Count the entries of every row, then list them."""
        n = len(M)
        indptr = np.zeros(n + 1, dtype=np.int64)
        joint_kernels.count_candidates(M, rows, columns, limit, indptr[1:])
        np.cumsum(indptr, out=indptr)
        keys = np.empty(indptr[-1], dtype=np.int64)
        joint_kernels.list_candidates(M, rows, columns, limit, indptr, keys)
        keys += np.repeat(np.arange(n) * n, np.diff(indptr))
        return keys

    def magnitudes_at(self, M: Array, keys: Array) -> Array:
        """Return magnitudes in float64, zero on the diagonal."""
        return np.where(keys % (len(M) + 1), np.abs(M.ravel()[keys]), 0.0).astype(np.float64)

    def weighted_sum(self, terms: list[tuple[float, Entries[Array]]]) -> Entries[Array]:
        """Add the terms by key."""
        keys, at = np.unique(np.concatenate([e.keys for _, e in terms]), return_inverse=True)
        values = np.concatenate([weight * e.values for weight, e in terms])
        return Entries(keys, np.bincount(at, values, len(keys)))

    def coupling_step(
        self, z: Array, A: Entries[Array], penalty: CouplingPenalty, rho: float, out: Array
    ) -> None:
        """Write every row in one compiled loop."""
        M = A.matrix(len(z))
        joint_kernels.coupling_step(z, M.indptr, M.indices, M.data, rho, *penalty, out)

    def ridge_coefficients(self, X: Array, rho: float) -> Array:
        """Factorise the d x d matrix."""
        rows = X.astype(np.float64, copy=False)
        small = rows.T @ rows
        self.add_to_diagonal(small, rho)
        B = linalg.cho_solve(linalg.cho_factor(small, overwrite_a=True), rows.T).T
        return np.ascontiguousarray(B, dtype=X.dtype).T

    def ridge_inverse(self, X: Array, rho: float) -> Array:
        """Invert the n x n matrix in place."""
        Q = gram_inverse(X, rho)
        Q *= rho
        return np.ascontiguousarray(Q, dtype=X.dtype)

    def add_product(self, A: Array, B: Array, out: Array) -> None:
        """Add the product by BLAS, which works on the transposed matrices."""
        gemm = blas.get_blas_funcs("gemm", (out,))
        gemm(1.0, B, A.T, 1.0, out.T, trans_a=True, overwrite_c=True)
