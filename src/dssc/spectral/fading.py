"""A spectral embedding that does not end abruptly after as many eigenvectors as clusters."""

import numpy as np

BEYOND = 2  # eigenvectors taken beyond twice the number of clusters
LEAST = 1e-3  # distance of an eigenvalue from one that still counts


def fading_components(n_samples: int, n_clusters: int) -> int:
    """Return how many eigenvectors are taken where they fade."""
    return min(n_samples, 2 * n_clusters + BEYOND)


def faded(embedding, affinity, n_clusters: int) -> np.ndarray:
    """Return the leading eigenvectors of a doubly stochastic affinity, fading after the k-th.

    With eigenvalues ``1 = l_1 >= l_2 >= ...``, eigenvector i gets the weight
    ``min(1, (1 - l_k) / (1 - l_i))`` (1e-3 is added to both distances). Where a gap follows the
    k-th, what comes after it has next to no weight, and this is the embedding of the paper. Where
    there is none, as when a class consists of two groups or a cluster is nearly split, the k-th
    and the next eigenvector say equally much, and cutting between them would be arbitrary.
    Distances that weigh eigenvectors by ``1 / (1 - l)`` are known as biharmonic.

    Parameters
    ----------
    embedding : ndarray of shape (n_samples, n_components)
        Eigenvectors, one a column; see `fading_components` for how many.
    affinity : csr_array of shape (n_samples, n_samples)
        Doubly stochastic.
    n_clusters : int
        Number of clusters.
    """
    eigenvalues = np.einsum("ij,ij->j", embedding, affinity @ embedding)
    return embedding * fading_weights(eigenvalues, n_clusters)


def fading_weights(eigenvalues, n_clusters: int) -> np.ndarray:
    """Return the weights of eigenvectors whose first `n_clusters` count in full."""
    distances = np.maximum(1.0 - eigenvalues, 0.0) + LEAST
    weights = np.minimum(1.0, distances[n_clusters - 1] / distances)
    weights[:n_clusters] = 1.0
    return weights
