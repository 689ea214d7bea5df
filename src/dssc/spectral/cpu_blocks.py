"""Blocks of vectors for filtered subspace iteration, on the CPU."""

from functools import cached_property

import numpy as np
from scipy import linalg, sparse

from dssc import kernels
from dssc._typing import Array
from dssc.spectral.chebyshev import BlockOperations, RitzVectors, chebyshev_filter


class CpuBlocks(BlockOperations[Array]):
    """Blocks of vectors as NumPy arrays, multiplied with the matrix on all threads.

    Parameters
    ----------
    N : csr_array of shape (n, n)
        Symmetric matrix with eigenvalues in [-1, 1].
    known : csr_array of shape (n, n_known)
        Orthonormal eigenvectors of eigenvalue one.
    """

    def __init__(self, N: sparse.csr_array, known: sparse.csr_array):
        self._pattern = N.indptr.astype(np.int64), N.indices.astype(np.int32, copy=False)
        self._values = N.data.astype(np.float64, copy=False)
        self._known = known

    @property
    def n_free(self) -> int:
        """Dimension of the space orthogonal to the known eigenvectors."""
        return self._known.shape[0] - self._known.shape[1]

    def random_block(self, n_vectors: int, rng: np.random.RandomState) -> Array:
        """Return a block of random vectors."""
        return rng.uniform(-1.0, 1.0, (self._known.shape[0], n_vectors))

    def orthonormal(self, X: Array) -> Array:
        """Remove the known eigenvectors from X and return an orthonormal basis of the result."""
        X = X - self._known @ (self._known.T @ X)
        return linalg.qr(X, mode="economic", overwrite_a=True, check_finite=False)[0]

    def filtered(self, X: Array, cut: float, degree: int, *, double: bool) -> Array:
        """Apply the polynomial of `chebyshev_filter` to X, in float64 or else in float32."""
        values = self._values if double else self._single_values
        unused: list[Array] = []

        def combine(
            x: Array, previous: Array | None, scale: float, center: float, weight: float
        ) -> Array:
            out = unused.pop() if unused else np.empty_like(x)
            y = x if previous is None else previous
            kernels.chebyshev_step(*self._pattern, values, x, y, scale, center, weight, out)
            if previous is not None:
                unused.append(previous)
            return out

        X = chebyshev_filter(combine, X.astype(values.dtype), cut, degree)
        return X.astype(np.float64, copy=False)

    def rayleigh_ritz(self, X: Array, n_wanted: int) -> RitzVectors[Array]:
        """Return approximate eigenvectors from the span of an orthonormal X."""
        products = np.empty_like(X)
        kernels.chebyshev_step(*self._pattern, self._values, X, X, 1.0, 0.0, 0.0, products)
        values, mix = linalg.eigh(X.T @ products)
        values, mix = values[::-1], mix[:, ::-1]
        X, products = X @ mix, products @ mix
        residuals = np.linalg.norm(products - X * values, axis=0)
        return RitzVectors(values, X, float(residuals[:n_wanted].max()))

    @cached_property
    def _single_values(self) -> Array:
        return self._values.astype(np.float32)
