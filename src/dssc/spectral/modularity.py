"""How many clusters a graph falls into most naturally, by modularity."""

from itertools import pairwise

import numpy as np
from sklearn.utils import check_random_state

from dssc.spectral.embedding import spectral_embedding
from dssc.spectral.fading import fading_weights
from dssc.spectral.labels import assign_labels

FIRST_RANGE = 24  # clusters looked for at first; twice as many while the best are among the most
COARSE = 9  # numbers tried of a range, before those between the best ones


def modularity(graph, labels: np.ndarray) -> float:
    """Return the share of affinity inside clusters, less what chance would put there.

    Chance spreads the affinity over all pairs of points in proportion to their degrees (Newman and
    Girvan, 2004).
    """
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    inside = graph.data[labels[rows] == labels[graph.indices]].sum()
    shares = np.bincount(labels, degrees) / degrees.sum()
    return float(inside / degrees.sum() - np.sum(shares**2))


def most_modular(graph, fewest: int, most: int, seed: int = 0) -> int:
    """Return the number of clusters whose spectral clustering has the highest modularity.

    Numbers from `fewest` to `most` are tried on a coarse grid, then between the best ones. The
    range, and the eigenvectors with it, grows only while the best lie at its upper end.

    Parameters
    ----------
    graph : csr_array of shape (n, n)
        Symmetric, nonnegative, in at most `fewest` pieces.
    fewest, most : int
        Numbers of clusters to look among.
    seed : int
        Randomness of k-means and of the eigensolver's start.
    """
    found: dict[int, float] = {}
    end = min(most, max(FIRST_RANGE, 2 * fewest))
    while True:
        clustered = SpectralClusterings(graph, end, seed)
        grid = np.geomspace(fewest, end, COARSE).round().astype(int)
        best = _highest(clustered.modularity_of, set(grid.tolist()), found)
        if end == most or best <= end / 2:
            return best
        end = min(most, 2 * end)


class SpectralClusterings:
    """Clusterings of a graph into any number of clusters, from the same eigenvectors."""

    def __init__(self, graph, most: int, seed: int):
        self.graph, self.seed = graph, seed
        rng = check_random_state(seed)
        self.vectors = spectral_embedding(graph, most, n_components=most, random_state=rng)
        degrees = np.asarray(graph.sum(axis=1)).ravel()
        scaled = self.vectors / np.sqrt(np.where(degrees > 0, degrees, 1.0))[:, None]
        self.eigenvalues = np.einsum("ij,ij->j", scaled, graph @ scaled)

    def modularity_of(self, n_clusters: int) -> float:
        """Return the modularity of one clustering, its eigenvectors fading as in A-DSSC."""
        taken = min(2 * n_clusters + 2, len(self.eigenvalues))
        weights = fading_weights(self.eigenvalues[:taken], n_clusters)
        labels = assign_labels(
            self.vectors[:, :taken] * weights, n_clusters, n_init=1, random_state=self.seed
        )
        return modularity(self.graph, labels)


def _highest(function, grid, found):
    """Return where a function is highest, as far as halving the steps around the best tells."""
    while grid:
        found.update({k: function(k) for k in sorted(grid - found.keys())})
        tried = sorted(found)
        at = max(range(len(tried)), key=lambda i: found[tried[i]])
        near = tried[max(0, at - 1) : at + 2]
        middles = {round((a * b) ** 0.5) for a, b in pairwise(near)}
        grid = middles - found.keys()
    return tried[at]
