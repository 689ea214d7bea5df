"""The leading eigenvectors of an affinity: the spectral step of Algorithm 1.

Connected components are found first. Each one has a known eigenvector of eigenvalue one. Iterative
eigensolvers fail on just this multiple eigenvalue.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.utils import check_array, check_random_state

from dssc._typing import Array, Matrix, RandomState
from dssc._validation import check_structure
from dssc._warnings import warn_user
from dssc.graph import NEGLIGIBLE
from dssc.spectral.counts import check_counts
from dssc.spectral.eigenvectors import StartVectors, leading_eigenvectors

# Smallest size of a cluster, as a share of the mean cluster size, where there are more components
# than clusters.
SMALLEST_SHARE = 0.1


def spectral_embedding(
    affinity: ArrayLike | Matrix,
    n_clusters: int,
    *,
    n_components: int | None = None,
    n_exact: int | None = None,
    random_state: RandomState = None,
) -> Array:
    """Return the leading eigenvectors of an affinity normalised by its degrees.

    These are the eigenvectors of ``D^-1/2 W D^-1/2`` with the largest eigenvalues, where W is the
    symmetric part of the affinity and D the diagonal matrix of its degrees. For a doubly stochastic
    affinity D is the identity, and all Laplacians of the paper's Section 2.1 give the same.

    Parameters
    ----------
    affinity : array-like or sparse matrix of shape (n_samples, n_samples)
        Nonnegative affinity. Its symmetric part is used.
    n_clusters : int
        Number of clusters the embedding is for.
    n_components : int, optional
        Number of eigenvectors, `n_clusters` by default. The paper takes one more for MNIST.
    n_exact : int, optional
        Number of eigenvectors to compute accurately, all by default. The others, if they are to
        have little weight, need a residual of 0.01 only, which takes fewer steps.
    random_state : int, RandomState instance or None, default=None
        Determines the start of the iterative eigensolver.

    Returns
    -------
    embedding : ndarray of shape (n_samples, n_components)
        Eigenvectors, one per column. Rows may be zero: if the affinity has more connected
        components than clusters, there is a warning, the largest components define the clusters,
        and the rows of all other points are zero. `assign_labels` places these points by
        similarity. Components smaller than a tenth of the mean cluster size do not become clusters
        of their own then. If fewer than `n_clusters` remain, the large ones are divided by their
        spectrum.
    """
    rng = check_random_state(random_state)
    return embedding_from(None, affinity, n_clusters, n_components, n_exact, rng)


def embedding_from(
    start: StartVectors | None,
    affinity: ArrayLike | Matrix,
    n_clusters: int,
    n_components: int | None,
    n_exact: int | None,
    rng: np.random.RandomState,
) -> Array:
    """Return what `spectral_embedding` does, with an iteration that begins with the `start`.

    Afterwards `start` holds the vectors for the next affinity of the same points.
    """
    W = _check_affinity(affinity)
    n_components = n_clusters if n_components is None else n_components
    check_counts(W.shape[0], n_clusters, n_components)
    _, membership = connected_components(_connections(W), directed=False)
    pieces = rank_components(membership, n_clusters)
    points = np.flatnonzero(pieces.labels >= 0)
    degrees = np.asarray(W.sum(axis=1), dtype=np.float64).ravel()
    indicators = _indicators(pieces.labels[points], np.sqrt(degrees[points]))
    n_known = min(pieces.n_pieces, n_components)
    n_wanted = pieces.n_eigenvectors(n_clusters, n_components)
    embedding = np.zeros((W.shape[0], n_components))
    embedding[points, :n_known] = indicators.toarray()[:, :n_components]
    if n_wanted > 0:
        N = normalised(W, degrees)
        N = N if len(points) == N.shape[0] else N[points][:, points]
        n_exact = None if n_exact is None else max(1, n_exact - n_known)
        of_points = None if start is None else _of_points(start, points)
        vectors = leading_eigenvectors(N, indicators, n_wanted, rng, n_exact, of_points)
        if start is not None and of_points is not None and of_points.vectors is not None:
            start.vectors = np.zeros((W.shape[0], of_points.vectors.shape[1]))
            start.vectors[points] = of_points.vectors
        embedding[points, n_known : n_known + n_wanted] = vectors
    return embedding


def _of_points(start: StartVectors, points: Array) -> StartVectors:
    return StartVectors(None if start.vectors is None else start.vectors[points])


class Pieces(NamedTuple):
    """The connected components that define the clusters.

    Attributes
    ----------
    labels : ndarray of shape (n_samples,)
        The component of each point, in falling order of size; -1 for points of no such component.
    n_pieces : int
        Number of components.
    n_points : int
        Number of points in them.
    """

    labels: Array
    n_pieces: int
    n_points: int

    def n_eigenvectors(self, n_clusters: int, n_components: int) -> int:
        """Return how many eigenvectors to compute besides those of the components themselves.

        None are needed if some components are left out and each remaining one is a cluster.
        """
        if self.n_points < len(self.labels) and self.n_pieces == n_clusters:
            return 0
        return max(0, min(n_components, self.n_points) - self.n_pieces)


def rank_components(membership: Array, n_clusters: int) -> Pieces:
    """Select the connected components that define the clusters.

    With more components than clusters, these are the `n_clusters` largest, except those that are
    too small for a cluster, and a warning says so. Otherwise they are all components.

    Parameters
    ----------
    membership : ndarray of shape (n_samples,)
        The component of each point, numbered from zero in any order.
    n_clusters : int
        Number of clusters.
    """
    sizes = np.bincount(membership)
    n_components = len(sizes)
    order = np.argsort(-sizes, kind="stable")
    rank = np.argsort(order)
    if n_components <= n_clusters:
        return Pieces(rank[membership], n_components, len(membership))
    large = sizes[order][:n_clusters] >= SMALLEST_SHARE * len(membership) / n_clusters
    n_kept = max(1, int(np.count_nonzero(large)))
    labels = np.where(rank[membership] < n_kept, rank[membership], -1)
    n_strays = int(np.count_nonzero(labels < 0))
    if n_clusters == 1:  # all points belong together, connected or not
        return Pieces(labels, n_kept, len(membership) - n_strays)
    warn_user(
        f"the affinity has {n_components} connected components, more than n_clusters={n_clusters}; "
        f"the {n_kept} largest define the clusters and the {n_strays} points of the others go to "
        "the most similar cluster. Raise eta2 (or n_neighbors) to connect them",
        UserWarning,
    )
    return Pieces(labels, n_kept, len(membership) - n_strays)


def _check_affinity(affinity: ArrayLike | Matrix) -> Matrix:
    check_structure("affinity", affinity)
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


def _connections(affinity: Matrix) -> sparse.csr_array:
    """Return the graph of an affinity, without entries that are zero up to rounding."""
    return sparse.csr_array(affinity > NEGLIGIBLE * affinity.max())


def _indicators(membership: Array, root_degrees: Array) -> sparse.csr_array:
    """Return the unit eigenvector of each component, as the columns of a sparse matrix."""
    # An isolated point has degree zero, and is a component like any other.
    values = np.where(root_degrees > 0, root_degrees, 1.0)
    norms = np.sqrt(np.bincount(membership, values**2))
    places = np.arange(len(membership)), membership
    return sparse.csr_array((values / norms[membership], places))


def normalised(W: Matrix, degrees: Array) -> Matrix:
    """Return ``D^-1/2 W D^-1/2``; rows without affinity stay zero."""
    scale = 1.0 / np.sqrt(np.where(degrees > 0, degrees, 1.0))
    if sparse.issparse(W):
        rows = np.repeat(scale, np.diff(W.indptr))
        return sparse.csr_array((W.data * rows * scale[W.indices], W.indices, W.indptr), W.shape)
    return W * scale[:, None] * scale[None, :]
