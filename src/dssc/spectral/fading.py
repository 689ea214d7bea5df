"""A spectral embedding whose eigenvectors fade out instead of ending after the k-th."""

import numpy as np

from dssc._typing import Array, Matrix

# Eigenvectors taken beyond twice the number of clusters.
EXTRA_COMPONENTS = 2
# Added to the distance of every eigenvalue from one, so that smaller distances count as equal.
DISTANCE_FLOOR = 1e-3


def fading_components(n_samples: int, n_clusters: int) -> int:
    """Return the number of eigenvectors of a fading embedding."""
    return min(n_samples, 2 * n_clusters + EXTRA_COMPONENTS)


def faded(embedding: Array, eigenvalues: Array, n_clusters: int) -> Array:
    """Return the leading eigenvectors of a doubly stochastic affinity, fading after the k-th.

    With eigenvalues ``1 = l_1 >= l_2 >= ...``, eigenvector i gets the weight
    ``min(1, (1 - l_k) / (1 - l_i))`` (1e-3 is added to both distances). If there is a gap after the
    k-th eigenvalue, later eigenvectors have almost no weight, and this is the embedding of the
    paper. If there is none, as when a class consists of two groups or a cluster is nearly split,
    the k-th and the next eigenvector are equally informative, and a cut between them would be
    arbitrary. Distances that weigh eigenvectors by ``1 / (1 - l)`` are known as biharmonic.

    Parameters
    ----------
    embedding : ndarray of shape (n_samples, n_components)
        Eigenvectors, one per column; see `fading_components` for their number.
    eigenvalues : ndarray of shape (n_components,)
        Those of the columns.
    n_clusters : int
        Number of clusters k.
    """
    return embedding * fading_weights(eigenvalues, n_clusters)


def eigenvalues_of(vectors: Array, affinity: Matrix, degrees: Array | None = None) -> Array:
    """Return the eigenvalues that belong to eigenvectors of unit norm."""
    scaled = vectors if degrees is None else vectors / np.sqrt(degrees)[:, None]
    return np.einsum("ij,ij->j", scaled, affinity @ scaled)


def fading_weights(eigenvalues: Array, n_clusters: int) -> Array:
    """Return the weights of eigenvectors of which the first `n_clusters` have full weight."""
    distances = np.maximum(1.0 - eigenvalues, 0.0) + DISTANCE_FLOOR
    weights = np.minimum(1.0, distances[n_clusters - 1] / distances)
    weights[:n_clusters] = 1.0
    return weights
