"""One affinity, clustered into many numbers of clusters.

The eigenvectors for a number of clusters are the first of those for a larger number. So those of
the fit serve all smaller numbers, and for larger ones they are computed once, for the largest. Each
clustering then costs a run of k-means.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.utils import check_random_state

from dssc._typing import Array, Matrix, RandomState
from dssc._validation import check_count
from dssc.graph import as_graph
from dssc.spectral import assign_labels, fading_components, spectral_embedding
from dssc.spectral.fading import fading_weights
from dssc.spectral.modularity import modularity


class Exploration(NamedTuple):
    """Clusterings of one affinity into several numbers of clusters, in rising order.

    Attributes
    ----------
    counts : ndarray of shape (n_counts,)
        Numbers of clusters.
    labels : ndarray of shape (n_counts, n_samples)
        A clustering per row; -1 for points without a cluster.
    eigenvalues : ndarray
        Leading eigenvalues of the affinity in falling order, at least one more than the largest
        count; the last one is repeated if the affinity has no more.
    gaps : ndarray of shape (n_counts,)
        Eigenvalue k less eigenvalue k + 1, for every count k.
    modularity : ndarray of shape (n_counts,)
        Share of affinity inside clusters, less what chance would put there.
    sizes : list of ndarray
        Sizes of the clusters of every clustering, in falling order.
    """

    counts: Array
    labels: Array
    eigenvalues: Array
    gaps: Array
    modularity: Array
    sizes: list[Array]


class Clusterings:
    """Clusterings of an affinity into any number of clusters, from the same eigenvectors.

    Parameters
    ----------
    affinity : sparse matrix or ndarray of shape (n_samples, n_samples)
        The affinity of a fit. Points without a row do not count.
    labels : ndarray of shape (n_samples,)
        The labels of the fit, -1 for points without a cluster.
    n_clusters : int
        The number of clusters of the fit.
    embedding : ndarray of shape (n_samples, n_components)
        The eigenvectors of the fit, times any weights.
    fading : bool
        Whether more eigenvectors than clusters are taken, with weights that fade.
    n_components : int or None
        Number of eigenvectors, if it was given.
    method, n_init, random_state
        As in :func:`dssc.assign_labels`.
    """

    def __init__(
        self,
        affinity: Matrix,
        labels: Array,
        n_clusters: int,
        embedding: Array,
        *,
        fading: bool,
        n_components: int | None,
        method: str,
        n_init: int,
        random_state: RandomState,
    ):
        degrees = np.asarray(affinity.sum(axis=1)).ravel()
        self.points = np.flatnonzero(degrees > 0)
        is_whole = len(self.points) == len(degrees)
        self.affinity = affinity if is_whole else affinity[self.points][:, self.points]
        self.graph = as_graph(self.affinity)
        self.degrees = degrees[self.points]
        self.n_pieces = int(connected_components(self.graph, directed=False)[0])
        self.known, self.n_known = labels, n_clusters
        self.fading, self.n_components = fading, n_components
        self.method, self.n_init, self.random_state = method, n_init, random_state
        self._keep(np.empty((len(self.points), 0)))
        norms = np.linalg.norm(embedding, axis=0)
        if self.n_pieces <= n_clusters and norms.all():  # otherwise it is not of all points
            self._keep(embedding[self.points].astype(np.float64) / norms)

    def labels(self, n_clusters: int) -> Array:
        """Return labels of all points for a number of clusters; see `labels_for`."""
        if check_count("n_clusters", n_clusters) > len(self.points):
            raise ValueError(
                f"n_clusters={n_clusters} must be at most {len(self.points)}, the number of points "
                "that were clustered"
            )
        if n_clusters == self.n_known:
            return self.known.copy()
        found = assign_labels(
            self._embedding(n_clusters),
            n_clusters,
            method=self.method,
            n_init=self.n_init,
            similarity=self._same_cluster,
            random_state=check_random_state(self.random_state),
        )
        labels = np.full(len(self.known), -1, dtype=self.known.dtype)
        labels[self.points] = found
        return np.where(self.known < 0, -1, labels)

    def separate(self, counts: Iterable[int]) -> Exploration:
        """Return a clustering for every count, each from the eigenvectors."""
        numbers = _checked(counts)
        # From the largest count to the smallest, so that eigenvectors are computed once.
        labels = {k: self.labels(k) for k in reversed(numbers)}
        return self._explored(numbers, [labels[k] for k in numbers])

    def nested(self, counts: Iterable[int]) -> Exploration:
        """Return clusterings each of which divides clusters of the one before."""
        numbers = _checked(counts)
        finest = self.labels(numbers[-1])
        layers = merged_layers(self.graph, finest[self.points], numbers[-1])
        # The last entry is the label of points without a cluster.
        return self._explored(numbers, [np.append(layers[k], -1)[finest] for k in numbers])

    def _explored(self, counts: list[int], labels: list[Array]) -> Exploration:
        values = self._leading_eigenvalues(counts[-1] + 1)
        sizes = [
            np.sort(np.bincount(one[one >= 0], minlength=k))[::-1]
            for k, one in zip(counts, labels, strict=True)
        ]
        return Exploration(
            np.array(counts),
            np.stack(labels),
            values,
            np.array([values[k - 1] - values[k] for k in counts]),
            np.array([self._modularity(one) for one in labels]),
            sizes,
        )

    def _modularity(self, labels: Array) -> float:
        """Return the modularity among the points that have a cluster."""
        labels = labels[self.points]
        kept = np.flatnonzero(labels >= 0)
        return modularity(self.graph[kept][:, kept], labels[kept])

    def _embedding(self, n_clusters: int) -> Array:
        """Return the eigenvectors for a number of clusters, with their weights."""
        n_components = self._width(n_clusters)
        if self.n_pieces > n_clusters:  # the largest components alone define the clusters
            rng = check_random_state(self.random_state)
            return spectral_embedding(
                self.affinity, n_clusters, n_components=n_components, random_state=rng
            )
        self._compute(n_components)
        vectors = self.vectors[:, :n_components]
        if not self._fades():
            return vectors
        return vectors * fading_weights(self.eigenvalues[:n_components], n_clusters)

    def _width(self, n_clusters: int) -> int:
        """Return the number of eigenvectors for a number of clusters."""
        if self._fades():
            return fading_components(len(self.points), n_clusters)
        return min(self.n_components or n_clusters, len(self.points))

    def _fades(self) -> bool:
        return self.fading and self.n_components is None and self.method == "kmeans"

    def _leading_eigenvalues(self, count: int) -> Array:
        """Return eigenvalues in falling order; the last one is repeated if there are fewer."""
        if self.n_pieces >= count:  # each component has an eigenvalue of one
            return np.ones(count)
        self._compute(min(count, len(self.points)))
        return np.pad(self.eigenvalues, (0, max(0, count - len(self.eigenvalues))), mode="edge")

    def _compute(self, count: int) -> None:
        """Compute eigenvectors unless there are enough."""
        if count <= len(self.eigenvalues):
            return
        rng = check_random_state(self.random_state)
        count = max(count, self.n_pieces)
        self._keep(spectral_embedding(self.affinity, count, random_state=rng))

    def _keep(self, vectors: Array) -> None:
        """Keep eigenvectors, and compute their eigenvalues."""
        self.vectors = vectors
        scaled = vectors / np.sqrt(self.degrees)[:, None]
        values = np.einsum("ij,ij->j", scaled, self.graph @ scaled)
        self.eigenvalues = np.clip(values, -1.0, 1.0)

    def _same_cluster(self, rows: Array) -> Array:
        """Return which points share a cluster of the fit with some points.

        Points that no cluster is connected with go where most of their fitted cluster goes.
        """
        labels = self.known[self.points]
        return (labels[rows][:, None] == labels[None, :]).astype(np.float64)


def merged_layers(graph: sparse.csr_array, labels: Array, n_clusters: int) -> dict[int, Array]:
    """Merge clusters pair by pair, each time the pair that leaves the highest modularity.

    This is the greedy algorithm of Clauset, Newman and Moore (2004), started from clusters.

    Parameters
    ----------
    graph : csr_array of shape (n, n)
        Symmetric affinity.
    labels : ndarray of shape (n,)
        Clusters; points with -1 are left out.
    n_clusters : int
        Number of clusters.

    Returns
    -------
    layers : dict of int to ndarray of shape (n_clusters,)
        For every number from 1 to `n_clusters`, the merged cluster of each cluster.
    """
    kept = np.flatnonzero(labels >= 0)
    members = sparse.csr_array(
        (np.ones(len(kept)), (kept, labels[kept])), shape=(len(labels), n_clusters)
    )
    masses = (members.T @ graph @ members).toarray()
    masses /= masses.sum() or 1.0
    groups = np.arange(n_clusters)
    layers = {n_clusters: groups}
    for count in range(n_clusters - 1, 0, -1):
        shares = masses.sum(axis=1)
        gain = masses - np.outer(shares, shares)
        gain[np.tril_indices(len(gain))] = -np.inf
        first, second = np.unravel_index(np.argmax(gain), gain.shape)
        masses[first] += masses[second]
        masses[:, first] += masses[:, second]
        masses = np.delete(np.delete(masses, second, axis=0), second, axis=1)
        groups = np.where(groups == second, first, groups - (groups > second))
        layers[count] = groups
    return layers


def _checked(counts: Iterable[int]) -> list[int]:
    numbers = sorted({check_count("counts", k) for k in counts})
    if not numbers:
        raise ValueError("counts is empty; give at least one number of clusters")
    return numbers
