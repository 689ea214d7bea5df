"""Leading eigenvectors of a normalised affinity, by the solver that suits the matrix."""

from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.exceptions import ConvergenceWarning

from dssc import kernels
from dssc._factorising import symmetric_factor
from dssc._threads import one_thread, threads_for_eigenvectors
from dssc._typing import Array, Matrix
from dssc._warnings import warn_user
from dssc.spectral.chebyshev import MAX_ROUNDS, chebyshev_eigenvectors
from dssc.spectral.cpu_blocks import CpuBlocks

# Up to this size a dense eigensolver is as fast as an iterative one, and never fails.
DENSE_SIZE = 400
# Share of the eigenvectors of a dense matrix from which all of them take less time.
MOST_WANTED = 0.2
# Up to this size a sparse factorisation is affordable. It resolves eigenvalues close to one.
FACTORED_SIZE = 8000
# Most rounds of filtering before a factorisation.
ROUNDS_BEFORE_FACTORISATION = 8
# Largest share of unwanted eigenvectors in a wanted one.
TOLERANCE = 1e-5
# Smallest distance of wanted from unwanted eigenvalues that is resolved.
RESOLUTION = 1e-6
# The same beyond FACTORED_SIZE.
RESOLUTION_WHEN_LARGE = 0.1
# Tolerance of Lanczos on the inverse, relative to its largest eigenvalue.
FACTORED_TOLERANCE = 1e-10
# Residual at which an eigenvector is good enough for clustering.
RESOLVED = 1e-4


@dataclass
class StartVectors:
    """Vectors with which an iteration ended, for the next one with a similar matrix.

    Attributes
    ----------
    vectors : ndarray of shape (n, n_vectors) or None
        More vectors than were wanted; None before the first iteration.
    """

    vectors: Array | None = None


def leading_eigenvectors(
    N: Matrix,
    known: sparse.csr_array,
    n_wanted: int,
    rng: np.random.RandomState,
    n_exact: int | None = None,
    start: StartVectors | None = None,
) -> Array:
    """Return the leading eigenvectors of N orthogonal to the `known` ones of eigenvalue one.

    Filtered subspace iteration works on all vectors at once, and on all threads. Where many
    eigenvalues are close to one, as for graphs that are nearly disconnected, it takes many rounds.
    The sparse factorisation of just these graphs is cheap, unless they are large.

    Of the wanted eigenvectors, only the first `n_exact` are computed to full accuracy. The
    iteration begins with the `start`, which it replaces.
    """
    n = N.shape[0]
    if n <= DENSE_SIZE or n_wanted > n // 4:
        return _with_fixed_signs(_dense(N, known, n_wanted))
    is_large = n > FACTORED_SIZE
    order = np.arange(n)
    if is_large and sparse.issparse(N):
        order = _locality_order(N)
        N, known = N[order][:, order], known[order]
    given = None if start is None or start.vectors is None else start.vectors[order]
    with CpuBlocks.on_threads(N, known, n_wanted, given) as operations:
        ritz, converged = chebyshev_eigenvectors(
            operations,
            n_wanted,
            rng,
            tol=TOLERANCE,
            resolution=RESOLUTION_WHEN_LARGE if is_large else RESOLUTION,
            n_exact=n_exact,
            allow_double=True,
            max_rounds=MAX_ROUNDS if is_large else ROUNDS_BEFORE_FACTORISATION,
        )
    if not (converged or is_large):
        return _with_fixed_signs(_factored(N, known, n_wanted, rng))
    warn_if_unresolved(float(ritz.residuals[:n_exact].max()))
    back = np.argsort(order)
    if start is not None and operations.latest is not None:
        start.vectors = operations.latest[back]
    return _with_fixed_signs(ritz.vectors[back])


def _locality_order(N: sparse.csr_array) -> Array:
    """Return an order of the points in which products with N read memory mostly in sequence."""
    order = np.empty(N.shape[0], dtype=np.int64)
    pattern = N.indptr.astype(np.int64), N.indices.astype(np.int32, copy=False)
    kernels.breadth_first_order(*pattern, np.zeros(N.shape[0], dtype=bool), order)
    return order


def warn_if_unresolved(residual: float) -> None:
    """Warn of eigenvectors whose largest residual is too large for clustering."""
    if residual > RESOLVED:
        warn_user(
            f"the leading eigenvectors of the affinity have a residual of {residual:.1e}, wanted "
            f"{RESOLVED:.0e}: the graph nearly falls apart into more pieces than there are "
            "clusters. Raise eta2 (or n_neighbors) to connect them",
            ConvergenceWarning,
        )


def _factored(
    N: Matrix, known: sparse.csr_array, n_wanted: int, rng: np.random.RandomState
) -> Array:
    """Return leading eigenvectors as those of ``(s I - N)^-1``, with s just above one.

    The inverse separates eigenvalues that are close to one.
    """
    n = N.shape[0]
    factor = symmetric_factor((1.0 + 1e-5) * sparse.eye_array(n) - sparse.csr_array(N))

    def apply(x: Array) -> Array:
        y = factor.solve(x - known @ (known.T @ x))
        return y - known @ (known.T @ y)

    start = rng.uniform(-1.0, 1.0, n)
    # Vectors of this length are too short for several threads, which would only wait.
    with one_thread():
        _, vectors = eigsh(
            LinearOperator((n, n), matvec=apply, dtype=np.float64),
            n_wanted,
            which="LA",
            v0=start - known @ (known.T @ start),
            ncv=min(n, 2 * n_wanted + 20),
            tol=FACTORED_TOLERANCE,
        )
    return vectors[:, ::-1]


def _dense(N: Matrix, known: sparse.csr_array, n_wanted: int) -> Array:
    n = N.shape[0]
    dense = N.toarray() if sparse.issparse(N) else N
    # The known eigenvalues go to -2, below all others: if all vectors are wanted, -1 may be one.
    deflated = dense.astype(np.float64) - 3.0 * (known @ known.T).toarray()
    first = n - n_wanted
    with threads_for_eigenvectors(n):
        if n_wanted <= MOST_WANTED * n:
            # A part is hard to find if many eigenvalues are equal.
            with suppress(linalg.LinAlgError):
                return linalg.eigh(deflated, subset_by_index=[first, n - 1])[1][:, ::-1]
        vectors = linalg.eigh(deflated, driver="evd")[1][:, first:]
    return vectors[:, ::-1]


def _with_fixed_signs(vectors: Array) -> Array:
    """Make the entry of the largest magnitude positive in every column."""
    largest = np.argmax(np.abs(vectors), axis=0)
    return vectors * np.sign(vectors[largest, np.arange(vectors.shape[1])])
