"""Blocks of vectors for filtered subspace iteration, on the CPU."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from itertools import pairwise
from typing import Any, Self

import numpy as np
from scipy import linalg, sparse

from dssc import kernels
from dssc._threads import InThreads, block_threads
from dssc._typing import Array, Matrix
from dssc.spectral.chebyshev import BlockOperations, RitzVectors, chebyshev_filter

# Writes some rows, given by the first and the last one, of ``scale (N x - shift x) - weight y``.
Step = Callable[[int, int, Array, Array, float, float, float, Array], None]
# Rows whose products are summed at once. So sums do not depend on the number of threads.
ROWS = 1024


class CpuBlocks(BlockOperations[Array]):
    """Blocks of vectors as NumPy arrays, of which every thread has some rows.

    No step leaves the threads of one pool. Threads of BLAS or OpenMP would keep spinning after
    their own work, and take the processors from those of the next step.

    Parameters
    ----------
    N : csr_array or ndarray of shape (n, n)
        Symmetric matrix with eigenvalues in [-1, 1].
    known : csr_array or ndarray of shape (n, n_known)
        Orthonormal eigenvectors of eigenvalue one.
    in_threads : callable
        A `map` whose calls run on several threads; see `dssc._threads.block_threads`.
    n_threads : int
        Number of these threads.
    start : ndarray of shape (n, n_vectors), optional
        Approximate eigenvectors to start from.

    Attributes
    ----------
    latest : ndarray of shape (n, n_vectors) or None
        All vectors of the last call of `rayleigh_ritz`.
    """

    def __init__(
        self,
        N: Matrix,
        known: Matrix,
        in_threads: InThreads = map,
        n_threads: int = 1,
        start: Array | None = None,
    ) -> None:
        self._matrix, self._known, self._start = N, known, start
        self.latest: Array | None = None
        self._in_threads = in_threads
        n = known.shape[0]
        self._rows = [slice(start, min(start + ROWS, n)) for start in range(0, n, ROWS)]
        # A row of a product of dense matrices can depend on the rows beside it.
        unit = 1 if sparse.issparse(N) else ROWS
        edges = unit * np.linspace(0, -(-n // unit), n_threads + 1).astype(np.int64)
        self._parts = [slice(*edge) for edge in pairwise(np.minimum(edges, n).tolist())]

    @classmethod
    @contextmanager
    def on_threads(
        cls, N: Matrix, known: Matrix, n_vectors: int, start: Array | None = None
    ) -> Iterator[Self]:
        """Provide the operations, on as many threads as products with `n_vectors` are worth."""
        size = N.nnz if sparse.issparse(N) else N.size
        n_threads = kernels.python_threads_worth(size * n_vectors)
        with block_threads(n_threads) as in_threads:
            yield cls(N, known, in_threads, n_threads, start)

    @property
    def n_free(self) -> int:
        """Dimension of the space orthogonal to the known eigenvectors."""
        return int(self._known.shape[0] - self._known.shape[1])

    def random_block(self, n_vectors: int, rng: np.random.RandomState) -> Array:
        """Return a block of random vectors, but for those to start from."""
        X = rng.uniform(-1.0, 1.0, (self._known.shape[0], n_vectors))
        if self._start is not None:
            n_given = min(n_vectors, self._start.shape[1])
            X[:, :n_given] = self._start[:, :n_given]
        return X

    def orthonormal(self, X: Array) -> Array:
        """Remove the known eigenvectors from X and return an orthonormal basis of the result.

        It comes from two Cholesky factorisations, which are products of matrices throughout, or
        from reflections where one fails.
        """
        coefficients = self._known.T @ X
        Q = np.empty_like(X)

        def remove(rows: slice) -> Array:
            Q[rows] = X[rows] - self._known[rows] @ coefficients
            return np.square(Q[rows]).sum(axis=0)

        norms = np.maximum(np.sqrt(self._sum(remove)), np.finfo(np.float64).tiny)

        def scale(rows: slice) -> Array:
            Q[rows] /= norms
            return Q[rows].T @ Q[rows]

        gram = self._sum(scale)
        try:
            gram = self._sum(self._turned(Q, _inverse_factor(gram)))
            self._sum(self._turned(Q, _inverse_factor(gram)))
        except linalg.LinAlgError:
            return linalg.qr(Q, mode="economic", check_finite=False)[0]
        return Q

    def _turned(self, Q: Array, factor: Array) -> Callable[[slice], Array]:
        """Return what multiplies rows of Q by a factor, and returns their products."""

        def turn(rows: slice) -> Array:
            Q[rows] = Q[rows] @ factor
            return Q[rows].T @ Q[rows]

        return turn

    def filtered(self, X: Array, cut: float, degree: int, *, double: bool) -> Array:
        """Apply the polynomial of `chebyshev_filter` to X, in float64 or else in float32."""
        step = self._double if double else self._single
        unused: list[Array] = []

        def combine(
            x: Array, previous: Array | None, scale: float, center: float, weight: float
        ) -> Array:
            out = unused.pop() if unused else np.empty_like(x)
            y = x if previous is None else previous
            self._share(lambda rows: step(rows.start, rows.stop, x, y, scale, center, weight, out))
            if previous is not None:
                unused.append(previous)
            return out

        X = chebyshev_filter(combine, X.astype(np.float64 if double else np.float32), cut, degree)
        return X.astype(np.float64, copy=False)

    def rayleigh_ritz(self, X: Array) -> RitzVectors[Array]:
        """Return approximate eigenvectors from the span of an orthonormal X."""
        products, vectors = np.empty_like(X), np.empty_like(X)
        step = self._double

        def multiply(rows: slice) -> Array:
            step(rows.start, rows.stop, X, X, 1.0, 0.0, 0.0, products)
            return X[rows].T @ products[rows]

        values, mix = linalg.eigh(self._sum(multiply))
        values, mix = values[::-1], np.ascontiguousarray(mix[:, ::-1])

        def combine(rows: slice) -> Array:
            np.matmul(X[rows], mix, out=vectors[rows])
            return np.square(products[rows] @ mix - vectors[rows] * values).sum(axis=0)

        residuals = np.sqrt(self._sum(combine))
        self.latest = vectors
        return RitzVectors(values, vectors, residuals)

    def _share(self, work: Callable[[slice], None]) -> None:
        """Call `work` for a part of the rows on every thread."""
        for _ in self._in_threads(work, self._parts):
            pass

    def _sum(self, work: Callable[[slice], Array]) -> Array:
        """Return the sum of what `work` returns for rows, in their order."""
        edges = np.linspace(0, len(self._rows), len(self._parts) + 1).astype(np.int64)
        groups = [self._rows[first:last] for first, last in pairwise(edges.tolist())]
        total: Any = 0.0
        for results in self._in_threads(lambda group: [work(rows) for rows in group], groups):
            for result in results:
                total = total + result
        return total

    @cached_property
    def _single(self) -> Step:
        return _step(self._matrix, np.float32)

    @cached_property
    def _double(self) -> Step:
        return _step(self._matrix, np.float64)


def _inverse_factor(gram: Array) -> Array:
    """Return the inverse of the upper triangular Cholesky factor."""
    factor = linalg.cholesky(gram, check_finite=False)
    return linalg.solve_triangular(factor, np.eye(len(factor)), check_finite=False)


def _step(N: Matrix, dtype: type) -> Step:
    """Return the function that writes rows of ``scale (N x - shift x) - weight y``."""
    if sparse.issparse(N):
        pattern = N.indptr.astype(np.int64), N.indices.astype(np.int32, copy=False)
        values = N.data.astype(dtype, copy=False)
        return lambda first, last, *arguments: kernels.chebyshev_step(
            first, last, *pattern, values, *arguments
        )
    dense = N.astype(dtype, copy=False)

    def step(
        first: int,
        last: int,
        x: Array,
        y: Array,
        scale: float,
        shift: float,
        weight: float,
        out: Array,
    ) -> None:
        for start in range(first, last, ROWS):
            rows = slice(start, min(start + ROWS, last))
            np.matmul(dense[rows], x, out=out[rows])
            out[rows] -= shift * x[rows]
            out[rows] *= scale
            out[rows] -= weight * y[rows]

    return step
