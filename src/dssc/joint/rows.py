r"""The joint model, row by row, with C eliminated: what is left is a quadratic in the entries of A.

Row i of C solves a ridge regression on the points F that carry a coefficient, pulled towards
``sigma (eta2 A - eta3 / eta1)``, sigma the signs:

    (K_FF + eta1 I) C_F = K_Fi - eta3 sigma + eta1 eta2 sigma A .

With ``P = (K_FF + eta1 I)^-1`` and ``w = P (K_Fi - eta3 sigma)`` the row's share of the objective
is, up to a constant, the quadratic ``1/2 z' Q z - q' z`` in the entries z of A with

    Q_jk = eta1 eta2^2 sigma_j sigma_k (delta_jk - eta1 P_jk) ,    q_j = eta1 eta2 sigma_j w_j .

An entry of A without a coefficient costs ``eta1 eta2^2 / 2 z^2``. In the dead zone, where a pair
may hold C_p and C_q at once, it appears a second time with the opposite sign: the same Q, and
``q = -eta1 eta2 sigma w - 2 eta2 eta3``.
"""

from typing import NamedTuple

import numpy as np
from scipy import linalg, sparse

from dssc.joint.interior_point import RowQuadratics
from dssc.joint.model import JointModel

START_STEPS = 60
START_CHANGE = 1e-3


class Entries(NamedTuple):
    """Entries of A by rows: columns, the signs of their coefficients, zero where there is none."""

    indptr: np.ndarray
    columns: np.ndarray
    signs: np.ndarray
    second: np.ndarray  # whether it is the second of a pair that holds both signs

    @property
    def rows(self):
        """Row of every entry."""
        return np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))

    def matrix(self, values):
        """Return the sparse matrix of values at the entries; both signs of a pair are added."""
        n = len(self.indptr) - 1
        return sparse.csr_array(
            sparse.coo_array((values, (self.rows, self.columns)), shape=(n, n)), dtype=np.float64
        )


def rows_of(model: JointModel):
    """Return the way to eliminate C that fits the model."""
    return CommonRows(model) if model.eta3 == 0.0 else SparseRows(model)


class CommonRows:
    """Without eta3 every coefficient is nonzero, and all rows share one inverse.

    With ``H = eta1 K (K + eta1 I)^-1`` row i's own matrix, which leaves point i out, differs from H
    by ``H_ij H_ik / (eta1 - H_ii)``. So every row's quadratic is read off one n x n matrix.
    """

    def __init__(self, model: JointModel):
        self.model = model
        K = _gram(model.X)
        K.ravel()[:: model.n + 1] += model.eta1
        factor = linalg.cholesky(K, lower=True, overwrite_a=True, check_finite=False)
        lower, info = linalg.lapack.dpotri(factor, lower=True, overwrite_c=True)
        if info != 0:
            raise linalg.LinAlgError("the Gram matrix of X plus eta1 I could not be inverted")
        H = np.tril(lower, -1)
        diagonal = np.diagonal(lower).copy()
        H += H.T.copy()
        H *= -(model.eta1**2)
        np.fill_diagonal(H, model.eta1 - model.eta1**2 * diagonal)
        self.H = np.ascontiguousarray(H, dtype=model.X.dtype)
        self.inflation = 1.0 / (model.eta1**2 * diagonal)  # 1 / (eta1 - H_ii)

    def start(self):
        """Return the self-expression without A: LSR."""
        C = self.H * self.inflation[:, None].astype(self.H.dtype)
        np.fill_diagonal(C, 0.0)
        return C

    def quadratics(self, entries: Entries, G) -> RowQuadratics:
        """Return every row's quadratic in its entries of A."""
        from dssc.kernels._numba.joint import common_blocks

        sizes = np.diff(entries.indptr)
        offsets = np.concatenate([[0], np.cumsum(sizes**2)])
        blocks = np.empty(offsets[-1])
        linear = np.empty(len(entries.columns))
        common_blocks(
            entries.indptr,
            entries.columns,
            entries.signs,
            offsets,
            self.H,
            self.inflation,
            self.model.eta1,
            self.model.eta2,
            blocks,
            linear,
        )
        return RowQuadratics(entries.indptr, entries.columns, offsets, blocks, linear)

    def express(self, entries: Entries, z) -> np.ndarray:
        """Return the best C for the entries z of A."""
        m = self.model
        S = entries.matrix(m.eta2 * entries.signs * z)
        C = S.astype(self.H.dtype) @ self.H  # becomes G / eta1 + S
        scale = (m.eta1 - C.diagonal()) * self.inflation
        C *= -1.0
        C += scale[:, None].astype(C.dtype) * self.H
        C /= m.eta1
        C += S.astype(C.dtype)
        np.fill_diagonal(C, 0.0)
        return C


class SparseRows:
    """With eta3 every row has its own set of nonzero coefficients and its own factorisation."""

    def __init__(self, model: JointModel):
        self.model = model
        self.K = _gram(model.X)
        self._solved: list = []

    def start(self):
        """Return the elastic net, (minC), to a few digits by accelerated proximal gradients."""
        m = self.model
        X = m.X.astype(np.float32)
        K = self.K.astype(np.float32) if m.n < 2 * X.shape[1] else None
        L = 1.01 * _largest_eigenvalue(X)
        root = np.sqrt(m.eta1 / (L + m.eta1))
        limit = (1 - root) / (1 + root)  # the best momentum for a modulus of eta1
        C = np.zeros((m.n, m.n), dtype=np.float32)
        Y = C.copy()
        t = 1.0
        for _ in range(START_STEPS):
            step = (X - Y @ X) @ X.T if K is None else K - Y @ K  # the cheaper product
            step /= L
            Y += step
            new = np.sign(Y) * np.maximum(np.abs(Y) - np.float32(m.eta3 / L), 0)
            new /= 1 + m.eta1 / L
            np.fill_diagonal(new, 0.0)
            t, last = (1 + np.sqrt(1 + 4 * t * t)) / 2, t
            np.subtract(new, C, out=C)
            change = np.linalg.norm(C)
            Y = new + np.float32(min((last - 1) / t, limit)) * C
            C = new
            if change <= START_CHANGE * np.linalg.norm(C):
                break
        return C.astype(m.X.dtype, copy=False)

    def quadratics(self, entries: Entries, G) -> RowQuadratics:
        """Factorise every row and return its quadratic in its entries of A."""
        sizes = np.diff(entries.indptr)
        offsets = np.concatenate([[0], np.cumsum(sizes**2)])
        blocks = np.zeros(offsets[-1])
        linear = np.zeros(len(entries.columns))
        self._solved = []
        for i in range(self.model.n):
            at = slice(entries.indptr[i], entries.indptr[i + 1])
            part = (entries.columns[at], entries.signs[at], entries.second[at])
            linear[at], block, solved = self._row(i, G[i], *part)
            blocks[offsets[i] : offsets[i + 1]] = block.ravel()
            self._solved.append(solved)
        return RowQuadratics(entries.indptr, entries.columns, offsets, blocks, linear)

    def _row(self, i, g, columns, signs, second):
        m = self.model
        on = np.flatnonzero(signs)
        mask = np.abs(g) > m.eta3
        mask[columns[on]] = True
        mask[i] = False
        F = np.flatnonzero(mask)
        sigma = np.where(g[F] >= 0.0, 1.0, -1.0)
        at = np.searchsorted(F, columns[on])
        rhs = np.zeros((len(F), 1 + len(on)), order="F")
        rhs[:, 0] = self.K[F, i] - m.eta3 * sigma
        rhs[at, 1 + np.arange(len(on))] = 1.0
        if len(F):
            M = self.K[np.ix_(F, F)]
            M.ravel()[:: len(F) + 1] += m.eta1
            # M is symmetric: its transpose is in the order LAPACK wants, and is not copied.
            factor = linalg.cho_factor(M.T, lower=True, overwrite_a=True, check_finite=False)
            rhs = linalg.cho_solve(factor, rhs, overwrite_b=True, check_finite=False)
        w, P = rhs[:, 0].copy(), rhs[:, 1:]
        block = np.zeros((len(columns), len(columns)))
        off = np.flatnonzero(signs == 0.0)
        block[off, off] = m.eta1 * m.eta2**2
        same = columns[on][:, None] == columns[on]
        outer = signs[on][:, None] * signs[on]
        block[np.ix_(on, on)] = m.eta1 * m.eta2**2 * outer * (same - m.eta1 * P[at])
        pull = m.eta1 * m.eta2 * sigma[at] * w[at]
        linear = np.zeros(len(columns))
        linear[on] = np.where(second[on], -pull - 2 * m.eta2 * m.eta3, pull)
        # Single precision halves the largest thing held; it enters C as a small correction to w.
        return linear, block, (F, w, P.astype(np.float32), on)

    def express(self, entries: Entries, z) -> np.ndarray:
        """Return the best C for the entries z of A, on the sets of the last factorisation."""
        m = self.model
        C = np.zeros((m.n, m.n), dtype=m.X.dtype)
        for i, (F, w, P, on) in enumerate(self._solved):
            at = entries.indptr[i] + on
            C[i, F] = w + m.eta1 * m.eta2 * (P @ (entries.signs[at] * z[at]))
        return C


def _gram(X):
    X = X.astype(np.float64, copy=False)
    return X @ X.T


def _largest_eigenvalue(X):
    v = np.ones(len(X), dtype=X.dtype)
    for _ in range(50):
        v = X @ (X.T @ v)
        norm = float(np.linalg.norm(v))
        v /= norm
    return norm
