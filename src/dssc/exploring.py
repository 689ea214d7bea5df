"""One affinity, clustered into many numbers of clusters.

The eigenvectors for a number of clusters are the first of those for a larger number. So those of
the fit serve all smaller numbers, and for larger ones they are computed once, for the largest. Each
clustering then costs a run of k-means.

A fit takes about twice as many eigenvectors as clusters, with weights that fade. For many points
these serve somewhat larger numbers as well: then fewer of them fade than in a fit of that number.
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

# Points from which eigenvectors are used for more clusters than they were computed for. They cost
# little below, and labels are those of a fit.
REUSED_FROM = 10_000
# Residual up to which eigenvectors are used again. They are exact for an affinity that differs by
# as much in norm, while the gap after well separated clusters is a hundred times as large.
ACCURATE = 3e-3
# Fewest eigenvectors with fading weights, as a share of the number of clusters.
FEWEST_FADING = 0.5


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

    def for_samples(self, labels: Array) -> "Exploration":
        """Return the exploration with labels of all samples, and the sizes that go with them."""
        sizes = [_sizes(one, k) for k, one in zip(self.counts, labels, strict=True)]
        return self._replace(labels=labels, sizes=sizes)


class Clusterings:
    """Clusterings of an affinity into any number of clusters, from the same eigenvectors.

    Parameters
    ----------
    affinity : sparse matrix or ndarray of shape (n_points, n_points)
        The affinity of the points of a fit.
    labels : ndarray of shape (n_points,)
        The labels of the fit.
    n_clusters : int
        The number of clusters of the fit.
    embedding : ndarray of shape (n_points, n_components)
        The eigenvectors of the fit, times any weights.
    fading : bool
        Whether more eigenvectors than clusters are taken, with weights that fade.
    n_components : int or None
        Number of eigenvectors, if it was given.
    method, n_init, random_state
        As in :func:`dssc.assign_labels`.
    weights : ndarray of shape (n_points,), optional
        How often each point counts.
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
        weights: Array | None = None,
    ):
        self.weights = weights
        self.affinity = affinity
        self.graph = as_graph(affinity)
        degrees = np.asarray(self.graph.sum(axis=1)).ravel()
        self.scale = 1.0 / np.sqrt(np.where(degrees > 0, degrees, 1.0))
        self.n_points = len(degrees)
        self.n_pieces = int(connected_components(self.graph, directed=False)[0])
        self.known, self.n_known = labels, n_clusters
        self.fading, self.n_components = fading, n_components
        self.method, self.n_init, self.random_state = method, n_init, random_state
        self._keep(np.empty((self.n_points, 0)))
        norms = np.linalg.norm(embedding, axis=0)
        if self.n_pieces <= n_clusters and norms.all():  # otherwise it is not of all points
            self._keep(embedding.astype(np.float64) / norms)

    def labels(self, n_clusters: int) -> Array:
        """Return labels for a number of clusters; see `labels_for` of the estimators."""
        if check_count("n_clusters", n_clusters) > self.n_points:
            raise ValueError(
                f"n_clusters={n_clusters} must be at most {self.n_points}, the number of distinct "
                "points that were clustered"
            )
        if n_clusters == self.n_known:
            return self.known
        embedding = self._embedding(n_clusters)
        placed = np.any(embedding != 0, axis=1)
        labels = np.empty(self.n_points, dtype=np.int32)
        labels[placed] = assign_labels(
            embedding[placed],
            n_clusters,
            method=self.method,
            n_init=self.n_init,
            random_state=check_random_state(self.random_state),
            sample_weight=None if self.weights is None else self.weights[placed],
        )
        if not placed.all():
            labels[~placed] = self._with_their_cluster(labels, placed, n_clusters)
        return labels

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
        layers = merged_layers(self.graph, finest, numbers[-1])
        return self._explored(numbers, [layers[k][finest] for k in numbers])

    def _explored(self, counts: list[int], labels: list[Array]) -> Exploration:
        values = self._leading_eigenvalues(counts[-1] + 1)
        return Exploration(
            np.array(counts),
            np.stack(labels),
            values,
            np.array([values[k - 1] - values[k] for k in counts]),
            np.array([modularity(self.graph, one) for one in labels]),
            [_sizes(one, k) for k, one in zip(counts, labels, strict=True)],
        )

    def _embedding(self, n_clusters: int) -> Array:
        """Return the eigenvectors for a number of clusters, with their weights."""
        n_components = self._width(n_clusters)
        if self.n_pieces > n_clusters:  # the largest components alone define the clusters
            rng = check_random_state(self.random_state)
            return spectral_embedding(
                self.affinity, n_clusters, n_components=n_components, random_state=rng
            )
        if not self._has_enough(n_clusters):
            self._compute(n_components, n_clusters)
        vectors = self.vectors[:, :n_components]
        if not self._fades():
            return vectors
        return vectors * fading_weights(self.eigenvalues[:n_components], n_clusters)

    def _has_enough(self, n_clusters: int) -> bool:
        """Return whether the eigenvectors that are known serve a number of clusters.

        Those of full weight must be accurate, and enough others must have weights that fade.
        """
        if not self._fades() or self.n_points < REUSED_FROM:
            return False
        needed = int(np.ceil((1.0 + FEWEST_FADING) * n_clusters))
        is_accurate = np.all(self.residuals[:n_clusters] <= ACCURATE)
        return needed <= len(self.eigenvalues) and bool(is_accurate)

    def _width(self, n_clusters: int) -> int:
        """Return the number of eigenvectors for a number of clusters."""
        if self._fades():
            return fading_components(self.n_points, n_clusters)
        return min(self.n_components or n_clusters, self.n_points)

    def _fades(self) -> bool:
        return self.fading and self.n_components is None and self.method == "kmeans"

    def _leading_eigenvalues(self, count: int) -> Array:
        """Return eigenvalues in falling order; the last one is repeated if there are fewer."""
        if self.n_pieces >= count:  # each component has an eigenvalue of one
            return np.ones(count)
        self._compute(min(count, self.n_points), count)
        return np.pad(self.eigenvalues, (0, max(0, count - len(self.eigenvalues))), mode="edge")

    def _compute(self, count: int, n_exact: int) -> None:
        """Compute eigenvectors unless there are enough, the first of them accurately."""
        if count <= len(self.eigenvalues):
            return
        rng = check_random_state(self.random_state)
        count = max(count, self.n_pieces)
        self._keep(spectral_embedding(self.affinity, count, n_exact=n_exact, random_state=rng))

    def _keep(self, vectors: Array) -> None:
        """Keep eigenvectors, and compute their eigenvalues and residuals."""
        self.vectors = vectors
        products = self.scale[:, None] * (self.graph @ (vectors * self.scale[:, None]))
        values = np.einsum("ij,ij->j", vectors, products)
        self.eigenvalues = np.clip(values, -1.0, 1.0)
        self.residuals = np.linalg.norm(products - values * vectors, axis=0)

    def _with_their_cluster(self, labels: Array, placed: Array, n_clusters: int) -> Array:
        """Return where points go that no cluster is connected with: with their fitted cluster.

        It is the new cluster of which the fitted one has the largest share.
        """
        common = np.zeros((self.n_known, n_clusters))
        np.add.at(common, (self.known[placed], labels[placed]), 1.0)
        return np.argmax(common / common.sum(axis=0), axis=1)[self.known[~placed]]


def merged_layers(graph: sparse.csr_array, labels: Array, n_clusters: int) -> dict[int, Array]:
    """Merge clusters pair by pair, each time the pair that leaves the highest modularity.

    This is the greedy algorithm of Clauset, Newman and Moore (2004), started from clusters.

    Parameters
    ----------
    graph : csr_array of shape (n, n)
        Symmetric affinity.
    labels : ndarray of shape (n,)
        Clusters.
    n_clusters : int
        Number of clusters.

    Returns
    -------
    layers : dict of int to ndarray of shape (n_clusters,)
        For every number from 1 to `n_clusters`, the merged cluster of each cluster.
    """
    places = np.arange(len(labels)), labels
    members = sparse.csr_array((np.ones(len(labels)), places), shape=(len(labels), n_clusters))
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


def _sizes(labels: Array, n_clusters: int) -> Array:
    """Return the sizes of clusters in falling order; points with label -1 do not count."""
    return np.sort(np.bincount(labels[labels >= 0], minlength=n_clusters))[::-1]
