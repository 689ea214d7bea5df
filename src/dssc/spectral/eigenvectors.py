"""Leading eigenvectors of a normalised affinity, by the solver that suits the matrix."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from dssc import kernels
from dssc._factorising import symmetric_factor
from dssc._threads import threads_for_eigenvectors
from dssc._typing import Array, Matrix
from dssc._warnings import warn_user
from dssc.spectral.chebyshev import chebyshev_eigenvectors
from dssc.spectral.cpu_blocks import CpuBlocks

Product = Callable[[Array], Array]

# Up to this size a dense eigensolver is as fast as an iterative one, and never fails.
DENSE_SIZE = 400
# Up to this size a sparse factorisation is affordable. It resolves eigenvalues that Lanczos cannot.
FACTORED_SIZE = 8000
# Up to this many known eigenvectors, products with them are faster as a dense matrix.
FEW_KNOWN = 4
# Most restarts of Lanczos up to FACTORED_SIZE.
RESTARTS = 10
# Most restarts of Lanczos beyond FACTORED_SIZE.
RESTARTS_WHEN_LARGE = 60
# Tolerance of Lanczos up to FACTORED_SIZE, relative to the largest eigenvalue, one.
TOLERANCE = 1e-10
# Tolerance of Lanczos beyond FACTORED_SIZE, where it runs in float32.
TOLERANCE_WHEN_LARGE = 1e-5
# Tolerance of filtered subspace iteration, on the residual of a unit eigenvector.
FILTERED_TOLERANCE = 1e-6
# Residual at which an eigenvector is good enough for clustering.
RESOLVED = 1e-4


def leading_eigenvectors(
    N: Matrix, known: sparse.csr_array, n_wanted: int, rng: np.random.RandomState
) -> Array:
    """Return the leading eigenvectors of N orthogonal to the `known` ones of eigenvalue one.

    Lanczos needs the fewest products while the wanted eigenvalues are well separated. Where many of
    them are close to one, as for graphs that are nearly disconnected, it does not converge. Then a
    sparse factorisation is used, or filtered subspace iteration for large matrices.
    """
    n = N.shape[0]
    if n <= DENSE_SIZE or n_wanted > n // 4:
        return _with_fixed_signs(_dense(N, known, n_wanted))
    if n > FACTORED_SIZE and sparse.issparse(N):
        return _with_fixed_signs(_large(N, known, n_wanted, rng))
    deflated = _deflated(N.__matmul__, known, np.float64)
    try:
        vectors = _lanczos(deflated, known, n_wanted, rng, maxiter=RESTARTS, tol=TOLERANCE)
    except ArpackNoConvergence:
        inverse = _inverse_near_one(N, known)
        vectors = _lanczos(inverse, known, n_wanted, rng, tol=TOLERANCE)
    return _with_fixed_signs(vectors)


def warn_if_unresolved(residual: float) -> None:
    """Warn of eigenvectors whose largest residual is too large for clustering."""
    if residual > RESOLVED:
        warn_user(
            f"the leading eigenvectors of the affinity have a residual of {residual:.1e}, wanted "
            f"{RESOLVED:.0e}: the graph nearly falls apart into more pieces than there are "
            "clusters. Raise eta2 (or n_neighbors) to connect them",
            ConvergenceWarning,
        )


def _large(
    N: sparse.csr_array, known: sparse.csr_array, n_wanted: int, rng: np.random.RandomState
) -> Array:
    """Iterate in float32, which halves the memory traffic, and judge the result in float64."""
    deflated = _deflated(_threaded(N), known, np.float32)
    blocks = CpuBlocks(N, known)
    with suppress(ArpackNoConvergence):
        vectors = _lanczos(
            deflated, known, n_wanted, rng, maxiter=RESTARTS_WHEN_LARGE, tol=TOLERANCE_WHEN_LARGE
        )
        basis = blocks.orthonormal(vectors.astype(np.float64))
        ritz = blocks.rayleigh_ritz(basis, n_wanted)
        if ritz.residual <= RESOLVED:
            return ritz.vectors
    vectors, residual = chebyshev_eigenvectors(
        blocks, n_wanted, rng, tol=FILTERED_TOLERANCE, allow_double=True
    )
    warn_if_unresolved(residual)
    return vectors


def _deflated(multiply: Product, known: sparse.csr_array, dtype: type) -> LinearOperator:
    """Return N with the known eigenvalues moved from 1 to -1, so that the wanted are on top."""
    known = known.astype(dtype)
    if known.shape[1] <= FEW_KNOWN:
        known = known.toarray()
    return LinearOperator(
        (known.shape[0],) * 2,
        matvec=lambda x: multiply(x) - 2 * (known @ (known.T @ x)),
        dtype=dtype,
    )


def _threaded(N: sparse.csr_array) -> Product:
    """Return the product of a CSR matrix with a vector in float32, on all threads."""
    arrays = N.indptr.astype(np.int64), N.indices.astype(np.int32), N.data.astype(np.float32)

    def multiply(x: Array) -> Array:
        out = np.empty(len(x), dtype=np.float32)
        kernels.sparse_product(*arrays, x, out)
        return out

    return multiply


def _lanczos(
    operator: LinearOperator,
    known: sparse.csr_array,
    n_wanted: int,
    rng: np.random.RandomState,
    **options: Any,
) -> Array:
    n = operator.shape[0]
    start = rng.uniform(-1.0, 1.0, n)
    start -= known @ (known.T @ start)
    # Vectors of this length are too short for several threads, which would only wait.
    with threadpool_limits(1, "blas"):
        _, vectors = eigsh(
            operator,
            n_wanted,
            which="LA",
            v0=start.astype(operator.dtype),
            ncv=min(n, 2 * n_wanted + 20),
            **options,
        )
    return vectors[:, ::-1]


def _inverse_near_one(N: Matrix, known: sparse.csr_array) -> LinearOperator:
    """Return ``(s I - N)^-1`` off the `known` vectors, with s just above one.

    Nearly disconnected graphs have many eigenvalues close to one, which the inverse separates. The
    factorisation of just these graphs stays sparse.
    """
    n = N.shape[0]
    factor = symmetric_factor((1.0 + 1e-5) * sparse.eye_array(n) - sparse.csr_array(N))

    def apply(x: Array) -> Array:
        y = factor.solve(x - known @ (known.T @ x))
        return y - known @ (known.T @ y)

    return LinearOperator((n, n), matvec=apply, dtype=np.float64)


def _dense(N: Matrix, known: sparse.csr_array, n_wanted: int) -> Array:
    n = N.shape[0]
    dense = N.toarray() if sparse.issparse(N) else N
    # The known eigenvalues go to -2, below all others: if all vectors are wanted, -1 may be one.
    deflated = dense.astype(np.float64) - 3.0 * (known @ known.T).toarray()
    with threads_for_eigenvectors(n):
        try:
            _, vectors = linalg.eigh(deflated, subset_by_index=[n - n_wanted, n - 1])
        except linalg.LinAlgError:  # a part is hard to find if many eigenvalues are equal
            vectors = linalg.eigh(deflated, driver="evd")[1][:, n - n_wanted :]
    return vectors[:, ::-1]


def _with_fixed_signs(vectors: Array) -> Array:
    """Make the entry of the largest magnitude positive in every column."""
    largest = np.argmax(np.abs(vectors), axis=0)
    return vectors * np.sign(vectors[largest, np.arange(vectors.shape[1])])
