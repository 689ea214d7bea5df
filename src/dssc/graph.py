"""What an affinity says as a graph: its pieces, its spectrum, its share inside clusters."""

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

# Of the largest entry: connects nothing. A projection to the default tolerance is off by so much.
NEGLIGIBLE = 1e-8
DENSE_SIZE = 400
ABOUT = 1e-3  # tolerance on eigenvalues that are looked at only


def as_graph(affinity) -> sparse.csr_array:
    """Return the symmetric part of an affinity, without what is zero up to rounding."""
    A = affinity if sparse.issparse(affinity) else np.asarray(affinity)
    A = sparse.csr_array((A + A.T) / 2, dtype=np.float64)
    A.data[A.data <= NEGLIGIBLE * (A.data.max() if A.nnz else 0.0)] = 0.0
    A.eliminate_zeros()
    return A


def count_components(affinity) -> int:
    """Return the number of connected components of an affinity."""
    return int(connected_components(as_graph(affinity), directed=False)[0])


def leading_eigenvalues(graph: sparse.csr_array, extra: int, embedding=None, seed=0) -> np.ndarray:
    """Return the largest eigenvalues of a graph normalised by its degrees, in falling order.

    Those of the embedding are Rayleigh quotients of its columns. The `extra` ones after them may be
    crowded, where exact values take long and mean nothing: they are good for a picture.

    Parameters
    ----------
    graph : csr_array of shape (n, n)
        Symmetric, as of `as_graph`.
    extra : int
        How many eigenvalues to find after those of the embedding.
    embedding : ndarray of shape (n, n_components), optional
        Leading eigenvectors that are known already, with zero columns where the spectral step had
        no use for them.
    seed : int
        Where the eigensolver starts.
    """
    n = graph.shape[0]
    embedding = np.empty((n, 0)) if embedding is None else embedding
    n_known = embedding.shape[1]
    count = min(n, n_known + extra)
    n_found, membership = connected_components(graph, directed=False)
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    scale = np.divide(1.0, np.sqrt(degrees), out=np.zeros(n), where=degrees > 0)
    N = sparse.csr_array(graph.multiply(scale[:, None]).multiply(scale[None, :]))
    if n <= DENSE_SIZE:
        return np.linalg.eigvalsh(N.toarray())[::-1][:count]
    if n_found >= count:
        return np.ones(count)
    if n_found > n_known or not np.linalg.norm(embedding, axis=0).all():
        roots = np.sqrt(np.maximum(degrees, 1e-300))
        embedding = sparse.csr_array((roots, (np.arange(n), membership))).toarray()
    known = linalg.qr(embedding.astype(np.float64), mode="economic")[0]
    values = np.einsum("ij,ij->j", known, N @ known)
    more = _largest_beyond(N, known, count - known.shape[1], seed)
    return np.clip(np.sort(np.concatenate([values, more]))[::-1], -1.0, 1.0)


def _largest_beyond(N, known, count, seed):
    """Return the largest eigenvalues of N off the `known` vectors, about."""
    n = N.shape[0]
    # Moving the known eigenvalues from one to minus one leaves the wanted ones on top.
    deflated = LinearOperator(
        (n, n), matvec=lambda x: N @ x - 2.0 * (known @ (known.T @ x)), dtype=np.float64
    )
    start = np.random.default_rng(seed).uniform(-1.0, 1.0, n)
    try:
        return eigsh(
            deflated, count, which="LA", v0=start, ncv=min(n, 4 * count + 20), tol=ABOUT,
            return_eigenvectors=False,
        )  # fmt: skip
    except ArpackNoConvergence as error:
        return error.eigenvalues  # what there is


def share_inside(graph: sparse.csr_array, labels: np.ndarray) -> np.ndarray:
    """Return the share of each point's affinity that lies on points of its own cluster."""
    rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    same = labels[rows] == labels[graph.indices]
    inside = np.bincount(rows, graph.data * same, minlength=graph.shape[0])
    total = np.bincount(rows, graph.data, minlength=graph.shape[0])
    return np.divide(inside, total, out=np.zeros_like(total), where=total > 0)
