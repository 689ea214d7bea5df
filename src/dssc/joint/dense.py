"""What the splitting does to whole matrices, on the CPU."""

from typing import Any

import numpy as np
from scipy import linalg
from scipy.linalg import blas

from dssc.expression import least_squares_representation
from dssc.joint.acceleration import MEMORY
from dssc.joint.entries import Entries
from dssc.joint.model import JointModel, blocks, largest
from dssc.joint.transport import Newton
from dssc.kernels._numba import joint as kernels

RELAXATION = 1.6


class DenseEngine:
    """z, Y and F as arrays, and the proximal step of the fit.

    The step minimises ``1/2 |X - C X|^2 + rho / 2 |C - W|^2``. It is ``W + (X - W X) B'`` with
    ``B = X (X'X + rho I)^-1``, two products with n x d matrices, or ``I + (W - I) Q`` with
    ``Q = rho (X X' + rho I)^-1``, one product with an n x n matrix: the cheaper is taken.
    """

    fit: Any
    Y: Any
    F: Any

    def __init__(self, model: JointModel):
        self.model = model
        self.blocks = blocks(model.n)
        # As float32 is no smaller than what is remembered, less of it is.
        self.n_pairs = MEMORY if model.X.dtype == np.float64 else 1

    def start(self):
        """Return the self-expression by least squares."""
        return np.ascontiguousarray(least_squares_representation(self.model.X, self.model.eta1))

    def weigh(self, rho):
        """Take a new weight of the proximal terms."""
        X = self.model.X
        self.rho = rho
        self.release()
        self.fit = (_Gram if len(X) < 2 * X.shape[1] else _Features)(X, rho)
        self.Y, self.F = (np.empty((len(X), len(X)), dtype=X.dtype) for _ in range(2))

    def release(self):
        """Let go of everything that a step makes anew."""
        self.fit = self.Y = self.F = None

    def store(self):
        """Return matrices to remember steps in, two for each."""
        n = self.model.n
        return [np.empty((n, n), dtype=np.float32) for _ in range(2 * self.n_pairs)]

    def largest(self, z, count):
        """Return keys ``i n + j`` of the diagonal and of rows' and columns' largest entries."""
        return largest(z, count)

    def sizes(self, z, keys):
        """Return magnitudes of entries, zero on the diagonal."""
        return np.where(keys % (len(z) + 1), np.abs(z.ravel()[keys]), 0.0).astype(np.float64)

    def candidates(self, z, rows, columns, limit):
        """Return keys of places with ``|z| + rows + columns > limit`` or ``rows + columns > 0``.

        Places on the diagonal always count.
        """
        n = len(z)
        counts = np.zeros(n + 1, dtype=np.int64)
        kernels.count_candidates(z, rows, columns, limit, counts[1:])
        np.cumsum(counts, out=counts)
        found = np.empty(counts[-1], dtype=np.int64)
        kernels.list_candidates(z, rows, columns, limit, counts, found)
        found += np.repeat(np.arange(n) * n, np.diff(counts))
        return found

    def array(self, x):
        """Return an array as it is held here."""
        return x

    def combined(self, parts):
        """Return the sum of entries, from pairs of a weight and entries; all places are kept."""
        keys, at = np.unique(np.concatenate([e.keys for _, e in parts]), return_inverse=True)
        values = np.concatenate([weight * e.values for weight, e in parts])
        return Entries(keys, np.bincount(at, values, len(keys)))

    def newton(self, cost, candidates):
        """Return what finds A among candidates."""
        return Newton(cost, candidates)

    def step(self, z, entries):
        """Return ``1.6 (C - Y)`` for the Y that belongs to z and entries of A; Y is kept."""
        m = self.model
        A = entries.matrix(m.n)
        kernels.coupling_step(
            z, A.indptr, A.indices, A.data, self.rho, m.eta1, m.eta2, m.eta3, self.Y
        )
        self.fit.step(z, self.Y, self.F)
        for rows in self.blocks:
            self.F[rows] -= self.Y[rows]
            self.F[rows] *= RELAXATION
        return self.F

    def lower_bound(self, z, potentials):
        """Return the model's lower bound from C and the potentials."""
        m, F = self.model, self.F
        for rows in self.blocks:  # C, in the place of F
            F[rows] /= RELAXATION
            F[rows] += self.Y[rows]
        products = m.fit_products(F)
        for rows in self.blocks:  # G = rho (C - W), which is (X - C X) X'
            F[rows] += z[rows] - 2 * self.Y[rows]
            F[rows] *= self.rho
        bound = m.lower_bound(products, potentials, F)
        for rows in self.blocks:
            F[rows] *= RELAXATION / self.rho
            F[rows] += RELAXATION * (self.Y[rows] - z[rows])
        return bound


class _Features:
    def __init__(self, X, rho):
        self.X, dtype = X, X.dtype
        X = X.astype(np.float64, copy=False)
        small = X.T @ X
        small.ravel()[:: len(small) + 1] += rho
        B = linalg.cho_solve(linalg.cho_factor(small, overwrite_a=True), X.T).T
        self.B = np.ascontiguousarray(B, dtype=dtype)

    def step(self, z, Y, out):
        """Write C for ``W = 2 Y - z``."""
        np.multiply(Y, 2.0, out=out)
        out -= z
        R = self.X - out @ self.X
        gemm = blas.get_blas_funcs("gemm", (out,))
        gemm(1.0, self.B.T, R.T, 1.0, out.T, trans_a=True, overwrite_c=True)


class _Gram:
    def __init__(self, X, rho):
        dtype = X.dtype
        X = X.astype(np.float64, copy=False)
        K = X @ X.T
        K.ravel()[:: len(K) + 1] += rho
        factor = linalg.cholesky(K.T, lower=True, overwrite_a=True, check_finite=False)
        Q, info = linalg.lapack.dpotri(factor, lower=True, overwrite_c=True)
        if info != 0:
            raise linalg.LinAlgError("the Gram matrix of X plus rho I could not be inverted")
        Q *= rho
        for rows in blocks(len(Q)):  # only the lower part is filled
            Q[: rows.start, rows] = Q[rows, : rows.start].T
            own = np.tril(Q[rows, rows])
            Q[rows, rows] = own + np.tril(own, -1).T
        self.Q = np.ascontiguousarray(Q.T, dtype=dtype)

    def step(self, z, Y, out):
        """Write C for ``W = 2 Y - z``; W is made in the place of Y, which is then restored."""
        Y *= 2.0
        Y -= z
        np.dot(Y, self.Q, out=out)
        out -= self.Q
        out.ravel()[:: len(out) + 1] += 1.0
        Y += z
        Y *= 0.5
