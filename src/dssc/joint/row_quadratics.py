r"""The joint model row by row, with C eliminated: a quadratic in the entries of A.

Row i of C solves a ridge regression on the set F of points with a nonzero coefficient, pulled
towards ``sigma (eta2 A - eta3 / eta1)``, where sigma are the signs:

    (K_FF + eta1 I) C_F = K_Fi - eta3 sigma + eta1 eta2 sigma A .

With ``P = (K_FF + eta1 I)^-1`` and ``w = P (K_Fi - eta3 sigma)`` the row's part of the objective
is, up to a constant, the quadratic ``1/2 z' Q z - q' z`` in the entries z of A with

    Q_jk = eta1 eta2^2 sigma_j sigma_k (delta_jk - eta1 P_jk) ,    q_j = eta1 eta2 sigma_j w_j .

An entry of A without a coefficient costs ``eta1 eta2^2 / 2 z^2``. In the dead zone C_p and C_q may
both be positive. An entry there appears a second time with the opposite sign: the same Q, and
``q = -eta1 eta2 sigma w - 2 eta2 eta3``.
"""

from typing import NamedTuple, Protocol

import numpy as np
from scipy import linalg, sparse

from dssc._typing import Array
from dssc.joint.gram_inverse import gram_inverse
from dssc.joint.interior_point import RowQuadratics
from dssc.joint.model import JointModel
from dssc.kernels import joint as kernels

# Most steps of the elastic net from which the rounds start.
START_STEPS = 60
# The elastic net ends when C changes by less than this, relative to its norm.
START_CHANGE = 1e-3


class SignedEntries(NamedTuple):
    """Entries of A by rows, with the signs of their coefficients.

    Attributes
    ----------
    indptr, columns : ndarray
        The entries in CSR form.
    signs : ndarray
        Sign of the coefficient; zero where there is none.
    second : ndarray of bool
        Whether it is the second of two entries at the same place, which has the opposite sign.
    """

    indptr: Array
    columns: Array
    signs: Array
    second: Array

    @property
    def rows(self) -> Array:
        """Row of every entry."""
        return np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))

    def matrix(self, values: Array) -> sparse.csr_array:
        """Return the sparse matrix of values; two entries at the same place are added."""
        n = len(self.indptr) - 1
        return sparse.csr_array(
            sparse.coo_array((values, (self.rows, self.columns)), shape=(n, n)), dtype=np.float64
        )

    def zero_quadratics(self) -> RowQuadratics:
        """Return a quadratic of zeros for every row, to be filled."""
        offsets = np.concatenate([[0], np.cumsum(np.diff(self.indptr) ** 2)])
        zeros = np.zeros(offsets[-1]), np.zeros(len(self.columns))
        return RowQuadratics(self.indptr, self.columns, offsets, *zeros)


class Elimination(Protocol):
    """How C is eliminated from a model, and recovered."""

    def start(self) -> Array:
        """Return the C from which the rounds start."""

    def quadratics(self, entries: SignedEntries, G: Array) -> RowQuadratics:
        """Return every row's quadratic in its entries of A, for ``G = (X - C X) X'``."""

    def representation(self, entries: SignedEntries, z: Array) -> Array:
        """Return the best C for the entries z of A."""


def elimination_of(model: JointModel[Array]) -> Elimination:
    """Return the elimination that fits the model."""
    return CommonElimination(model) if model.eta3 == 0.0 else RowwiseElimination(model)


class CommonElimination(Elimination):
    """Without eta3 every coefficient is nonzero, and all rows share one inverse.

    Let ``H = eta1 K (K + eta1 I)^-1``. The matrix of row i, which leaves point i out, differs from
    H by ``H_ij H_ik / (eta1 - H_ii)``. So every row's quadratic is read from one n x n matrix.
    """

    def __init__(self, model: JointModel[Array]):
        self.model = model
        H = gram_inverse(model.X, model.eta1)
        diagonal = np.diagonal(H).copy()
        H *= -(model.eta1**2)
        np.fill_diagonal(H, model.eta1 - model.eta1**2 * diagonal)
        self.H = np.ascontiguousarray(H, dtype=model.X.dtype)
        self.inflation = 1.0 / (model.eta1**2 * diagonal)  # 1 / (eta1 - H_ii)

    def start(self) -> Array:
        """Return the self-expression without A: LSR."""
        C = self.H * self.inflation[:, None].astype(self.H.dtype)
        np.fill_diagonal(C, 0.0)
        return C

    def quadratics(self, entries: SignedEntries, G: Array) -> RowQuadratics:
        """Read the quadratics from H."""
        quadratics, m = entries.zero_quadratics(), self.model
        indptr, columns, offsets, blocks, linear = quadratics
        shared = self.H, self.inflation, m.eta1, m.eta2
        kernels.common_blocks(indptr, columns, entries.signs, offsets, *shared, blocks, linear)
        return quadratics

    def representation(self, entries: SignedEntries, z: Array) -> Array:
        """Return the best C by one product with H."""
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


class SolvedRow(NamedTuple):
    """The regression of one row: F, w, some columns of P, and the entries they belong to."""

    F: Array
    w: Array
    P: Array
    entries: Array


class RowwiseElimination(Elimination):
    """With eta3 every row has its own set of nonzero coefficients and its own factorisation."""

    def __init__(self, model: JointModel[Array]):
        self.model = model
        X = model.X.astype(np.float64, copy=False)
        self.K = X @ X.T
        self.solved_rows: list[SolvedRow] = []

    def start(self) -> Array:
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

    def quadratics(self, entries: SignedEntries, G: Array) -> RowQuadratics:
        """Factorise every row's system."""
        quadratics = entries.zero_quadratics()
        indptr, columns, offsets, blocks, linear = quadratics
        self.solved_rows = []
        for i in range(self.model.n):
            at = slice(indptr[i], indptr[i + 1])
            part = (columns[at], entries.signs[at], entries.second[at])
            linear[at], block, solved = self._solve_row(i, G[i], *part)
            blocks[offsets[i] : offsets[i + 1]] = block.ravel()
            self.solved_rows.append(solved)
        return quadratics

    def _solve_row(
        self, i: int, g: Array, columns: Array, signs: Array, second: Array
    ) -> tuple[Array, Array, SolvedRow]:
        """Return q and Q of one row, and the solution of its regression."""
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
            # M is symmetric: its transpose is in the order that LAPACK wants, and is not copied.
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
        # P takes most of the memory. It enters C as a small correction to w, so float32 is enough.
        return linear, block, SolvedRow(F, w, P.astype(np.float32), on)

    def representation(self, entries: SignedEntries, z: Array) -> Array:
        """Return the best C on the sets F of the last factorisation."""
        m = self.model
        C = np.zeros((m.n, m.n), dtype=m.X.dtype)
        for i, (F, w, P, on) in enumerate(self.solved_rows):
            at = entries.indptr[i] + on
            C[i, F] = w + m.eta1 * m.eta2 * (P @ (entries.signs[at] * z[at]))
        return C


def _largest_eigenvalue(X: Array) -> float:
    """Return the largest eigenvalue of ``X X'``, by power iterations."""
    v = np.ones(len(X), dtype=X.dtype)
    for _ in range(50):
        v = X @ (X.T @ v)
        norm = float(np.linalg.norm(v))
        v /= norm
    return norm
