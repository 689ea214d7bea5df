"""An affinity as a graph: its connected components, its spectrum, its mass inside clusters."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg, sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from dssc._threads import one_thread
from dssc._typing import Array, Matrix
from dssc._validation import as_floats, check_finite, check_structure

# Entries below this share of the largest one connect nothing: a projection to the default
# tolerance has errors of this size.
NEGLIGIBLE = 1e-8
# Up to this many points, all eigenvalues are computed by a dense solver.
DENSE_SIZE = 400
# Tolerance of eigenvalues that are only shown, never computed with.
SHOWN_TOL = 1e-3


def as_matrix(affinity: ArrayLike | Matrix) -> Matrix:
    """Return an affinity of finite numbers as an array, or unchanged if it is sparse."""
    check_structure("affinity", affinity)
    matrix = affinity if sparse.issparse(affinity) else as_floats("affinity", affinity)
    check_finite("affinity", matrix)
    return matrix


def as_graph(affinity: ArrayLike | Matrix) -> sparse.csr_array:
    """Return the symmetric part of an affinity, without entries that are zero up to rounding."""
    A = as_matrix(affinity)
    A = sparse.csr_array((A + A.T) / 2, dtype=np.float64)
    A.data[A.data <= NEGLIGIBLE * (A.data.max() if A.nnz else 0.0)] = 0.0
    A.eliminate_zeros()
    return A


def count_components(affinity: ArrayLike | Matrix) -> int:
    """Return the number of connected components of an affinity."""
    return int(connected_components(as_graph(affinity), directed=False)[0])


def leading_eigenvalues(
    graph: sparse.csr_array, extra: int, embedding: Array | None = None, seed: int = 0
) -> Array:
    """Return the largest eigenvalues of a graph normalised by its degrees, in decreasing order.

    Those of the embedding are Rayleigh quotients of its columns. The `extra` eigenvalues after
    them may lie close together, where exact values take long and mean little: they are accurate
    enough for a picture.

    Parameters
    ----------
    graph : csr_array of shape (n, n)
        Symmetric, as returned by `as_graph`.
    extra : int
        Number of eigenvalues to compute after those of the embedding.
    embedding : ndarray of shape (n, n_components), optional
        Leading eigenvectors that are known already, with zero columns where the spectral step had
        no use for them.
    seed : int
        Seed of the eigensolver's start.
    """
    n = graph.shape[0]
    embedding = np.empty((n, 0)) if embedding is None else embedding
    n_known = embedding.shape[1]
    count = min(n, n_known + extra)
    n_components, membership = connected_components(graph, directed=False)
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    scale = np.divide(1.0, np.sqrt(degrees), out=np.zeros(n), where=degrees > 0)
    N = sparse.csr_array(graph.multiply(scale[:, None]).multiply(scale[None, :]))
    if n <= DENSE_SIZE:
        with one_thread():
            return np.linalg.eigvalsh(N.toarray())[::-1][:count]
    if n_components >= count:
        return np.ones(count)
    if n_components > n_known or not np.linalg.norm(embedding, axis=0).all():
        roots = np.sqrt(np.maximum(degrees, 1e-300))
        embedding = sparse.csr_array((roots, (np.arange(n), membership))).toarray()
    known = linalg.qr(embedding.astype(np.float64), mode="economic")[0]
    values = np.einsum("ij,ij->j", known, N @ known)
    further = _largest_beyond(N, known, count - known.shape[1], seed)
    return np.clip(np.sort(np.concatenate([values, further]))[::-1], -1.0, 1.0)


def _largest_beyond(N: sparse.csr_array, known: Array, count: int, seed: int) -> Array:
    """Return the approximately largest eigenvalues of N orthogonal to the `known` vectors."""
    n = N.shape[0]
    # Moving the known eigenvalues from one to minus one leaves the wanted ones on top.
    deflated = LinearOperator(
        (n, n), matvec=lambda x: N @ x - 2.0 * (known @ (known.T @ x)), dtype=np.float64
    )
    start = np.random.default_rng(seed).uniform(-1.0, 1.0, n)
    try:
        with one_thread():
            return eigsh(
                deflated, count, which="LA", v0=start, ncv=min(n, 4 * count + 20), tol=SHOWN_TOL,
                return_eigenvectors=False,
            )  # fmt: skip
    except ArpackNoConvergence as error:
        return error.eigenvalues  # those that did converge


def share_inside(graph: sparse.csr_array, labels: Array) -> Array:
    """Return the share of each point's affinity that lies on points of its own cluster."""
    rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    same = labels[rows] == labels[graph.indices]
    inside = np.bincount(rows, graph.data * same, minlength=graph.shape[0])
    total = np.bincount(rows, graph.data, minlength=graph.shape[0])
    return np.divide(inside, total, out=np.zeros_like(total), where=total > 0)
