"""From an affinity to its leading eigenvectors: the spectral step of Algorithm 1.

Connected components are found first. Each one has eigenvalue one with a known eigenvector, and it
is exactly there, at a multiple eigenvalue, that iterative eigensolvers fail.
"""

import warnings

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.utils import check_array, check_random_state

from dssc.graph import NEGLIGIBLE
from dssc.spectral.counts import check_counts
from dssc.spectral.eigenvectors import leading_eigenvectors

# Of the mean cluster size: a smaller piece is no cluster when there are too many pieces.
SMALLEST_SHARE = 0.1


def spectral_embedding(affinity, n_clusters: int, *, n_components=None, random_state=None):
    """Return the leading eigenvectors of an affinity normalised by its degrees.

    These are the eigenvectors of ``D^-1/2 W D^-1/2`` with the largest eigenvalues, where W is the
    symmetric part of the affinity and D its degrees; for a doubly stochastic affinity D is the
    identity and every Laplacian of the paper's Section 2.1 gives the same.

    Parameters
    ----------
    affinity : array-like or sparse matrix of shape (n_samples, n_samples)
        Nonnegative affinity, symmetrised here.
    n_clusters : int
        Number of clusters the embedding is for.
    n_components : int, optional
        Number of eigenvectors, `n_clusters` when not given. The paper takes one more for MNIST.
    random_state : int, RandomState instance or None, default=None
        Where the iterative eigensolver starts.

    Returns
    -------
    embedding : ndarray of shape (n_samples, n_components)
        Eigenvectors, one a column; rows may be zero. When the affinity has more connected
        components than clusters, a warning says so, the largest components define the clusters, and
        the rows of the points in all others are zero: `assign_labels` places them by similarity.
        Pieces below a tenth of the mean cluster size do not become clusters of their own then;
        where that leaves fewer than `n_clusters`, the large ones are divided by their spectrum.
    """
    W = _check_affinity(affinity)
    n_components = n_clusters if n_components is None else n_components
    check_counts(W.shape[0], n_clusters, n_components)
    kept, strays = _components(W, n_clusters)
    points = np.flatnonzero(kept >= 0)
    degrees = np.asarray(W.sum(axis=1), dtype=np.float64).ravel()
    indicators = _indicators(kept[points], np.sqrt(degrees[points]))
    n_kept = indicators.shape[1]
    embedding = np.zeros((W.shape[0], n_components))
    embedding[points, : min(n_kept, n_components)] = indicators.toarray()[:, :n_components]
    if n_kept < n_components and not (strays and n_kept == n_clusters):
        N = _normalised(W, degrees)
        N = N if len(points) == N.shape[0] else N[points][:, points]
        n_wanted = min(n_components, len(points)) - n_kept
        rng = check_random_state(random_state)
        embedding[points, n_kept : n_kept + n_wanted] = leading_eigenvectors(
            N, indicators, n_wanted, rng
        )
    return embedding


def _check_affinity(affinity):
    W = check_array(affinity, accept_sparse="csr", dtype=[np.float64, np.float32])
    if W.shape[0] != W.shape[1]:
        raise ValueError(f"affinity must be square; its shape is {W.shape}")
    smallest = W.min()
    if smallest < 0:
        raise ValueError(f"affinity must be nonnegative; its smallest entry is {smallest:.3g}")
    if sparse.issparse(W):
        W = sparse.csr_array(W)
        return ((W + W.T) / 2).tocsr()
    return (W + W.T) / 2


def _connections(affinity):
    """Return the graph of an affinity; what is zero up to rounding connects nothing."""
    return sparse.csr_array(affinity > NEGLIGIBLE * affinity.max())


def _components(W, n_clusters):
    """Return the component of each point, the largest first, -1 for strays; and if there are any.

    Only more components than clusters make strays: all but the `n_clusters` largest, and pieces
    too small to be a cluster.
    """
    _, membership = connected_components(_connections(W), directed=False)
    return ranked_components(membership, n_clusters)


def ranked_components(membership, n_clusters: int):
    """Return the component of each point as `_components` does, of components in any order."""
    sizes = np.bincount(membership)
    n_found = len(sizes)
    order = np.argsort(-sizes, kind="stable")
    rank = np.empty(n_found, dtype=np.int64)
    rank[order] = np.arange(n_found)
    if n_found <= n_clusters:
        return rank[membership], False
    large = sizes[order][:n_clusters] >= SMALLEST_SHARE * len(membership) / n_clusters
    n_kept = max(1, np.count_nonzero(large))
    kept = np.where(rank[membership] < n_kept, rank[membership], -1)
    warnings.warn(
        f"the affinity has {n_found} connected components, more than n_clusters={n_clusters}; "
        f"the {n_kept} largest define the clusters and the {np.count_nonzero(kept < 0)} points of "
        "the others go to the most similar cluster. Raise eta2 (or n_neighbors) to connect them",
        UserWarning,
        stacklevel=4,
    )
    return kept, True


def _indicators(membership, root_degrees):
    """Return the unit eigenvector of each component, as the columns of a sparse matrix."""
    # An isolated point has no degree; it is a component like any other.
    values = np.where(root_degrees > 0, root_degrees, 1.0)
    norms = np.sqrt(np.bincount(membership, values**2))
    places = np.arange(len(membership)), membership
    return sparse.csr_array((values / norms[membership], places))


def _normalised(W, degrees):
    scale = 1.0 / np.sqrt(np.where(degrees > 0, degrees, 1.0))
    if sparse.issparse(W):
        rows = np.repeat(scale, np.diff(W.indptr))
        return sparse.csr_array((W.data * rows * scale[W.indices], W.indices, W.indptr), W.shape)
    return W * scale[:, None] * scale[None, :]
