"""Blocks of vectors for filtered subspace iteration, on the CPU."""

from collections.abc import Callable
from functools import cached_property

import numpy as np
from scipy import linalg, sparse

from dssc import kernels
from dssc._threads import share_rows, threads_for_products
from dssc._typing import Array, Matrix
from dssc.spectral.chebyshev import BlockOperations, RitzVectors, chebyshev_filter

Step = Callable[[Array, Array, float, float, float, Array], None]


class CpuBlocks(BlockOperations[Array]):
    """Blocks of vectors as NumPy arrays, multiplied with the matrix on all threads.

    Parameters
    ----------
    N : csr_array or ndarray of shape (n, n)
        Symmetric matrix with eigenvalues in [-1, 1].
    known : csr_array or ndarray of shape (n, n_known)
        Orthonormal eigenvectors of eigenvalue one.
    """

    def __init__(self, N: Matrix, known: Matrix):
        self._matrix, self._known = N, known

    @property
    def n_free(self) -> int:
        """Dimension of the space orthogonal to the known eigenvectors."""
        return int(self._known.shape[0] - self._known.shape[1])

    def random_block(self, n_vectors: int, rng: np.random.RandomState) -> Array:
        """Return a block of random vectors."""
        return rng.uniform(-1.0, 1.0, (self._known.shape[0], n_vectors))

    def orthonormal(self, X: Array) -> Array:
        """Remove the known eigenvectors from X and return an orthonormal basis of the result."""
        with threads_for_products(X.size * X.shape[1]):
            X = X - self._known @ (self._known.T @ X)
            return _orthonormal(X)

    def filtered(self, X: Array, cut: float, degree: int, *, double: bool) -> Array:
        """Apply the polynomial of `chebyshev_filter` to X, in float64 or else in float32."""
        step = self._double if double else self._single
        unused: list[Array] = []

        def combine(
            x: Array, previous: Array | None, scale: float, center: float, weight: float
        ) -> Array:
            out = unused.pop() if unused else np.empty_like(x)
            step(x, x if previous is None else previous, scale, center, weight, out)
            if previous is not None:
                unused.append(previous)
            return out

        X = chebyshev_filter(combine, X.astype(np.float64 if double else np.float32), cut, degree)
        return X.astype(np.float64, copy=False)

    def rayleigh_ritz(self, X: Array) -> RitzVectors[Array]:
        """Return approximate eigenvectors from the span of an orthonormal X."""
        products = self._product(X)
        with threads_for_products(X.size * X.shape[1]):
            values, mix = linalg.eigh(X.T @ products)
            values, mix = values[::-1], mix[:, ::-1]
            X, products = X @ mix, products @ mix
        return RitzVectors(values, X, np.linalg.norm(products - X * values, axis=0))

    def _product(self, X: Array) -> Array:
        """Return ``N X``; not by the kernel, which few problems need in float64."""
        N = self._matrix
        if not sparse.issparse(N):
            return N @ X
        out = np.empty_like(X)

        def fill(rows: slice) -> None:
            out[rows] = N[rows] @ X

        share_rows(fill, len(X), kernels.python_threads_worth(N.nnz * X.shape[1]))
        return out

    @cached_property
    def _single(self) -> Step:
        return _step(self._matrix, np.float32)

    @cached_property
    def _double(self) -> Step:
        return _step(self._matrix, np.float64)


def _orthonormal(X: Array) -> Array:
    """Return an orthonormal basis of the columns of X.

    It comes from two Cholesky factorisations, which are products of matrices throughout, or from
    reflections where one fails.
    """
    Q = X / np.maximum(np.linalg.norm(X, axis=0), np.finfo(np.float64).tiny)
    try:
        for _ in range(2):
            factor = linalg.cholesky(Q.T @ Q, check_finite=False)
            Q = Q @ linalg.solve_triangular(factor, np.eye(len(factor)), check_finite=False)
    except linalg.LinAlgError:
        return linalg.qr(X, mode="economic", check_finite=False)[0]
    return Q


def _step(N: Matrix, dtype: type) -> Step:
    """Return the function that writes ``scale (N x - shift x) - weight y`` to its last argument."""
    if sparse.issparse(N):
        pattern = N.indptr.astype(np.int64), N.indices.astype(np.int32, copy=False)
        values = N.data.astype(dtype, copy=False)
        return lambda *arguments: kernels.chebyshev_step(*pattern, values, *arguments)
    dense = N.astype(dtype, copy=False)

    def step(x: Array, y: Array, scale: float, shift: float, weight: float, out: Array) -> None:
        np.matmul(dense, x, out=out)
        out -= shift * x
        out *= scale
        out -= weight * y

    return step
