"""Modularity of clusterings, and how many clusters a graph has by it."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from scipy import sparse

from dssc._typing import Array
from dssc.graph import is_inside
from dssc.spectral.embedding import spectral_embedding
from dssc.spectral.fading import fading_components, fading_weights
from dssc.spectral.labels import assign_labels

# Largest number of clusters tried at first. It doubles while the best number is in the upper half.
FIRST_RANGE = 24
# Numbers of clusters tried in a range, before those between the best ones.
COARSE = 9


def modularity(graph: sparse.csr_array, labels: Array) -> float:
    """Return the share of affinity inside clusters, minus its expectation under chance.

    Chance distributes the affinity over all pairs of points in proportion to their degrees (Newman
    and Girvan, 2004).
    """
    degrees = graph @ np.ones(graph.shape[1])
    inside = np.dot(graph.data, is_inside(graph, labels))
    shares = np.bincount(labels, degrees) / degrees.sum()
    return float(inside / degrees.sum() - np.sum(shares**2))


def most_modular(graph: sparse.csr_array, fewest: int, most: int, seed: int = 0) -> int:
    """Return the number of clusters whose spectral clustering has the highest modularity.

    Numbers from `fewest` to `most` are tried on a coarse grid, then between the best ones. The
    range, and with it the number of eigenvectors, grows only while the best number is in its upper
    half.

    Parameters
    ----------
    graph : csr_array of shape (n, n)
        Symmetric, nonnegative, with at most `fewest` connected components.
    fewest, most : int
        Smallest and largest number of clusters to try.
    seed : int
        Randomness of k-means and of the eigensolver's start.
    """
    scores: dict[int, float] = {}
    end = min(most, max(FIRST_RANGE, 2 * fewest))
    while True:
        clusterings = SpectralClusterings(graph, end, seed)
        grid = np.geomspace(fewest, end, COARSE).round().astype(int)
        best = _maximiser(clusterings.modularity_of, set(grid.tolist()), scores)
        if end == most or best <= end / 2:
            return best
        end = min(most, 2 * end)


class SpectralClusterings:
    """Clusterings of a graph into any number of clusters, from the same eigenvectors."""

    def __init__(self, graph: sparse.csr_array, most: int, seed: int):
        self.graph, self.seed = graph, seed
        self.vectors = spectral_embedding(graph, most, n_components=most, random_state=seed)
        degrees = np.asarray(graph.sum(axis=1)).ravel()
        scaled = self.vectors / np.sqrt(np.where(degrees > 0, degrees, 1.0))[:, None]
        self.eigenvalues = np.einsum("ij,ij->j", scaled, graph @ scaled)

    def modularity_of(self, n_clusters: int) -> float:
        """Return the higher modularity of two clusterings, with and without fading eigenvectors."""
        n_components = fading_components(len(self.eigenvalues), n_clusters)
        weights = fading_weights(self.eigenvalues[:n_components], n_clusters)
        faded, leading = self.vectors[:, :n_components] * weights, self.vectors[:, :n_clusters]
        return max(
            modularity(self.graph, assign_labels(one, n_clusters, n_init=1, random_state=self.seed))
            for one in (faded, leading)
        )


def _maximiser(function: Callable[[int], float], grid: set[int], scores: dict[int, float]) -> int:
    """Return where a function of integers is largest, by halving the steps around the best one.

    `scores` holds the values that are known already, and receives those that are computed.
    """
    while grid:
        scores.update({k: function(k) for k in sorted(grid - scores.keys())})
        tried = sorted(scores)
        at = max(range(len(tried)), key=lambda i: scores[tried[i]])
        near = tried[max(0, at - 1) : at + 2]
        middles = {round((a * b) ** 0.5) for a, b in pairwise(near)}
        grid = middles - scores.keys()
    return tried[at]
