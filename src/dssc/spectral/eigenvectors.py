"""Leading eigenvectors, by whichever solver suits the matrix."""

import warnings

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from dssc import kernels
from dssc._factorising import symmetric_factor
from dssc.spectral.chebyshev import chebyshev_eigenvectors, refined

# Up to this size a dense eigensolver is as fast as an iterative one, and never fails.
DENSE_SIZE = 400
# Up to this size a sparse factorisation is affordable, which resolves what Lanczos cannot soon.
FACTORED_SIZE = 8000
FEW = 4  # known eigenvectors
RESTARTS, RESTARTS_WHEN_LARGE = 10, 60
TOLERANCE, TOLERANCE_WHEN_LARGE = 1e-10, 1e-5  # on residuals; the largest eigenvalue is one
RESOLVED = 1e-4  # residual at which an eigenvector is good enough to cluster by


def leading_eigenvectors(N, known, n_wanted, rng):
    """Return the leading eigenvectors of N orthogonal to the `known` ones of eigenvalue one.

    Lanczos needs the fewest products while the wanted eigenvalues lie apart. Where they crowd below
    one, as for graphs that nearly fall apart, a factorisation or a block of vectors takes over.
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


def _large(N, known, n_wanted, rng):
    """Iterate in single precision, which halves what is read; the residual is in double."""
    deflated = _deflated(_threaded(N), known, np.float32)
    effort = {"maxiter": RESTARTS_WHEN_LARGE, "tol": TOLERANCE_WHEN_LARGE}
    try:
        vectors = _lanczos(deflated, known, n_wanted, rng, **effort)
    except ArpackNoConvergence:
        return _filtered(N, known, n_wanted, rng)
    vectors, residual = refined(N, known, vectors)
    return vectors if residual <= RESOLVED else _filtered(N, known, n_wanted, rng)


def _deflated(multiply, known, dtype):
    """Return N with the known eigenvalues moved from 1 to -1, so that the wanted are on top."""
    known = known.astype(dtype)
    if known.shape[1] <= FEW:  # whose products cost less without the bookkeeping of sparse ones
        known = known.toarray()
    return _operator(
        known.shape[0], lambda x: multiply(x) - 2 * (known @ (known.T @ x)), dtype=dtype
    )


def _threaded(N):
    """Return the product of a CSR matrix with a vector in single precision, on all threads."""
    k = kernels.select()
    arrays = N.indptr.astype(np.int64), N.indices.astype(np.int32), N.data.astype(np.float32)

    def multiply(x):
        out = np.empty(len(x), dtype=np.float32)
        k.sparse_product(*arrays, x, out)
        return out

    return multiply


def _lanczos(operator, known, n_wanted, rng, **options):
    n = operator.shape[0]
    start = rng.uniform(-1.0, 1.0, n)
    start -= known @ (known.T @ start)
    # Vectors of this length are too short for threads, which would only wait for each other.
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


def _filtered(N, known, n_wanted, rng):
    vectors, residual = chebyshev_eigenvectors(N, known, n_wanted, rng)
    if residual > RESOLVED:
        warnings.warn(unresolved(residual), ConvergenceWarning, stacklevel=4)
    return vectors


def unresolved(residual: float) -> str:
    """Return what to say of eigenvectors that are not known well enough."""
    return (
        f"the leading eigenvectors of the affinity are known to a residual of {residual:.1e} "
        f"only, wanted {RESOLVED:.0e}: the graph nearly falls apart into more pieces than it "
        "has clusters. Raise eta2 (or n_neighbors) to connect them"
    )


def _inverse_near_one(N, known):
    """Return ``(s I - N)^-1`` off the `known` vectors, s just above one.

    Nearly disconnected graphs have many eigenvalues close to one, which this tears apart; and it is
    those graphs whose factorisation stays sparse.
    """
    n = N.shape[0]
    shifted = (1.0 + 1e-5) * sparse.eye_array(n) - sparse.csr_array(N)
    factor = symmetric_factor(shifted)

    def apply(x):
        y = factor.solve(x - known @ (known.T @ x))
        return y - known @ (known.T @ y)

    return _operator(n, apply)


def _operator(n, apply, dtype=np.float64):
    return LinearOperator((n, n), matvec=apply, dtype=dtype)


def _dense(N, known, n_wanted):
    n = N.shape[0]
    dense = N.toarray() if sparse.issparse(N) else N
    # The known eigenvalues go to -2, below all others: with every vector wanted, -1 may be one.
    deflated = dense.astype(np.float64) - 3.0 * (known @ known.T).toarray()
    _, vectors = linalg.eigh(deflated, subset_by_index=[n - n_wanted, n - 1])
    return vectors[:, ::-1]


def _with_fixed_signs(vectors):
    largest = np.argmax(np.abs(vectors), axis=0)
    return vectors * np.sign(vectors[largest, np.arange(vectors.shape[1])])
