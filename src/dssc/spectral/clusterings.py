"""Clusterings of one graph into many numbers of clusters, made for being compared."""

import numpy as np
from scipy import sparse

from dssc._typing import Array
from dssc.spectral.commute_time import commute_time_embedding
from dssc.spectral.eigenvectors import DENSE_SIZE, StartVectors
from dssc.spectral.embedding import embedding_from
from dssc.spectral.fading import eigenvalues_of, fading_components, fading_weights
from dssc.spectral.kmeans import kmeans_of_sample
from dssc.spectral.labels import unit_directions

# Points that k-means runs on, and points per cluster if that is more.
FEWEST_DRAWN, DRAWN_PER_CLUSTER = 800, 20
# Number of clusters that the first eigenvectors serve. It doubles when more are asked for.
FIRST_RANGE = 24


class SpectralClusterings:
    """Clusterings of a graph in three embeddings of the same eigenvectors.

    Parameters
    ----------
    graph : csr_array of shape (n, n)
        Symmetric, nonnegative, with positive degrees.
    fewest, most : int
        Smallest and largest number of clusters that may be asked for. The graph has at most
        `fewest` connected components.
    seed : int
        Randomness of k-means and of the eigensolver's start.
    start : StartVectors, optional
        Takes vectors with which other eigenvectors of the graph can be computed quickly.
    """

    def __init__(
        self,
        graph: sparse.csr_array,
        fewest: int,
        most: int,
        seed: int,
        start: StartVectors | None = None,
    ):
        self.graph, self.most, self.seed = graph, most, seed
        self.start = StartVectors() if start is None else start
        self.rng = np.random.RandomState(seed)
        self.degrees = np.asarray(graph.sum(axis=1)).ravel()
        is_small = len(self.degrees) <= DENSE_SIZE  # all eigenvectors cost little more than some
        self._compute(most if is_small else max(fewest, FIRST_RANGE))

    def serve(self, n_clusters: int) -> bool:
        """Make sure that there are enough eigenvectors; return whether there are new ones."""
        if n_clusters <= self.served:
            return False
        self._compute(max(n_clusters, 2 * self.served))
        return True

    def _compute(self, n_clusters: int) -> None:
        """Compute eigenvectors for up to so many clusters."""
        self.served = min(n_clusters, self.most)
        n_vectors = fading_components(len(self.degrees), self.served)
        sizes = n_vectors, n_vectors, self.served
        rng = np.random.RandomState(self.seed)
        self.vectors = embedding_from(self.start, self.graph, *sizes, rng)
        self.eigenvalues = eigenvalues_of(self.vectors, self.graph, self.degrees)
        self.by_commute_time = commute_time_embedding(self.vectors, self.eigenvalues, self.degrees)

    def labels(self, n_clusters: int) -> list[Array]:
        """Return a clustering in each embedding, from one start of k-means."""
        count = fading_components(len(self.degrees), n_clusters)
        weights = fading_weights(self.eigenvalues[:count], n_clusters)
        embeddings = (
            self.vectors[:, :count] * weights,
            self.vectors[:, :n_clusters],
            self.by_commute_time[:, :count],
        )
        return [self._clustered(embedding, n_clusters) for embedding in embeddings]

    def _clustered(self, embedding: Array, n_clusters: int) -> Array:
        norms = np.linalg.norm(embedding, axis=1)
        points = unit_directions(embedding, np.where(norms > 0, norms, 1.0))
        n_drawn = max(FEWEST_DRAWN, DRAWN_PER_CLUSTER * n_clusters)
        return kmeans_of_sample(points, n_clusters, n_drawn, self.rng)
