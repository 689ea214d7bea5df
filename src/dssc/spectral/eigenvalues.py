"""Leading eigenvalues of a graph, to the accuracy that a picture or a count of clusters needs."""

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.csgraph import connected_components

from dssc._threads import one_thread
from dssc._typing import Array
from dssc.spectral.chebyshev import chebyshev_eigenvectors
from dssc.spectral.cpu_blocks import CpuBlocks
from dssc.spectral.eigenvectors import DENSE_SIZE
from dssc.spectral.embedding import normalised

# Largest error of an eigenvalue.
ACCURACY = 3e-3
# A gap between eigenvalues below this is none.
SMALLEST_GAP = 1e-3


def leading_eigenvalues(
    graph: sparse.csr_array, extra: int, embedding: Array | None = None, seed: int = 0
) -> Array:
    """Return the largest eigenvalues of a graph normalised by its degrees, in decreasing order.

    Those of the embedding are Rayleigh quotients of its columns. The `extra` eigenvalues after
    them may lie close together, where exact values take long and mean little. Their eigenvectors
    have a residual of 0.003 at most, which bounds the error of an eigenvalue.

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
    N = normalised(graph, degrees)
    if n <= DENSE_SIZE or count > n // 4:
        with one_thread():
            return np.linalg.eigvalsh(N.toarray())[::-1][:count]
    if n_components >= count:
        return np.ones(count)
    if n_components > n_known or not np.linalg.norm(embedding, axis=0).all():
        roots = np.sqrt(np.maximum(degrees, 1e-300))
        embedding = sparse.csr_array((roots, (np.arange(n), membership))).toarray()
    known = linalg.qr(embedding.astype(np.float64), mode="economic")[0]
    values = np.einsum("ij,ij->j", known, N @ known)
    rng, n_wanted = np.random.RandomState(seed), count - known.shape[1]
    with CpuBlocks.on_threads(N, known, n_wanted) as operations:
        rough, _ = chebyshev_eigenvectors(
            operations, n_wanted, rng, tol=ACCURACY, allow_double=False
        )
    return np.clip(np.sort(np.concatenate([values, rough.values]))[::-1], -1.0, 1.0)
