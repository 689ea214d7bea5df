"""From a spectral embedding to labels."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg, sparse
from sklearn.utils import check_array, check_random_state, gen_batches

from dssc._typing import Array, Matrix, RandomState
from dssc._validation import check_real, check_sample_weight, check_structure
from dssc.spectral.counts import check_counts, check_nonzero_rows
from dssc.spectral.kmeans import kmeans_labels, kmeans_runs

# A similarity between all samples: a matrix, or a function that returns rows of a symmetric one.
Similarity = ArrayLike | Matrix | Callable[[Array], Matrix]

# Points without a label that are placed at once, and similarities read for them: so many of one
# or of the other.
STRAYS_AT_ONCE, SIMILARITIES_AT_ONCE = 256, 1 << 22
# Decimal digits of unit vectors that k-means takes into account.
DIGITS = 6


def assign_labels(
    embedding: ArrayLike,
    n_clusters: int,
    *,
    method: str = "kmeans",
    n_init: int = 10,
    similarity: Similarity | None = None,
    random_state: RandomState = None,
    sample_weight: ArrayLike | None = None,
) -> Array:
    """Return a label for every row of a spectral embedding.

    Parameters
    ----------
    embedding : array-like of shape (n_samples, n_components)
        Eigenvectors as `spectral_embedding` returns them.
    n_clusters : int
        Number of clusters.
    method : {"kmeans", "cluster_qr"}, default="kmeans"
        k-means on rows scaled to unit norm, or the direct method of Damle, Minden and Ying (2019),
        which needs no random start and as many clusters as components.
    n_init : int, default=10
        Number of random starts of k-means. The best result is kept.
    similarity : array-like or sparse matrix of shape (n_samples, n_samples), or callable, optional
        Places the points whose row is zero: each one goes to the cluster with the highest mean
        similarity. Without it they join the largest cluster. A function takes an array of samples
        and returns their rows of a symmetric similarity.
    random_state : int, RandomState instance or None, default=None
        Determines the random starts of k-means.
    sample_weight : array-like of shape (n_samples,), optional
        How often each row counts.

    Returns
    -------
    labels : ndarray of shape (n_samples,)
        Integers from 0 to ``n_clusters - 1``.
    """
    check_structure("similarity", similarity)
    check_real("embedding", embedding)
    U = check_array(embedding, dtype=[np.float64, np.float32], ensure_min_samples=1)
    check_counts(len(U), n_clusters, U.shape[1])
    weights = None if sample_weight is None else check_sample_weight(sample_weight, len(U))
    rng = check_random_state(random_state)
    return labels_of_embedding(U, n_clusters, method, n_init, similarity, rng, weights)


def labels_of_embedding(
    U: Array,
    n_clusters: int,
    method: str,
    n_init: int,
    similarity: Similarity | None,
    rng: np.random.RandomState,
    weights: Array | None = None,
) -> Array:
    """Return what `assign_labels` does, for an array of finite numbers."""
    rows = EmbeddingRows(U, n_clusters, similarity, weights)
    if method == "kmeans":
        directions = rows.directions()
        return rows.completed(kmeans_labels(directions, n_clusters, n_init, rng, rows.weights))
    if method != "cluster_qr":
        raise ValueError(f"method={method!r} must be 'kmeans' or 'cluster_qr'")
    return rows.completed(_cluster_qr(rows.without_weights(), n_clusters))


def clusterings_of_embedding(
    U: Array,
    n_clusters: int,
    n_starts: int,
    similarity: Similarity | None,
    rng: np.random.RandomState,
    weights: Array | None = None,
) -> list[Array]:
    """Return the labels of each of several starts of k-means."""
    rows = EmbeddingRows(U, n_clusters, similarity, weights)
    runs = kmeans_runs(rows.directions(), n_clusters, n_starts, rng, rows.weights)
    return [rows.completed(labels) for labels, _ in runs]


class EmbeddingRows:
    """The rows of an embedding that are not zero, and how the others get a label.

    Parameters
    ----------
    U : ndarray of shape (n_samples, n_components)
        The embedding.
    n_clusters : int
        Number of clusters.
    similarity : array-like, sparse matrix, callable or None
        See `assign_labels`.
    weights : ndarray of shape (n_samples,), optional
        How often each row counts.
    """

    def __init__(
        self, U: Array, n_clusters: int, similarity: Similarity | None, weights: Array | None
    ):
        norms = np.linalg.norm(U, axis=1)
        self.U, self.n_clusters, self.similarity = U, n_clusters, similarity
        self.placed, self.all_weights = norms > 0, weights
        self.norms = norms[self.placed]
        check_nonzero_rows(len(self.norms), n_clusters)
        self.weights = None if weights is None else weights[self.placed]

    def directions(self) -> Array:
        """Return the rows that are not zero, scaled to unit norm."""
        return unit_directions(self.U[self.placed], self.norms)

    def without_weights(self) -> Array:
        """Return the rows that are not zero, as those of one copy.

        Eigenvectors grow like the root of a row's weight. Those of its copies do not.
        """
        rows = self.U[self.placed]
        return rows if self.weights is None else rows / np.sqrt(self.weights)[:, None]

    def completed(self, of_placed: Array) -> Array:
        """Return the labels of all rows from those of rows that are not zero."""
        labels = np.empty(len(self.U), dtype=np.int32)
        labels[self.placed] = of_placed
        if len(of_placed) < len(labels):
            labels[~self.placed] = nearest_cluster(
                labels, self.placed, self.n_clusters, self.similarity, self.all_weights
            )
        return labels


def unit_directions(U: Array, norms: Array) -> Array:
    """Return the rows of an embedding, scaled to unit norm, in float32.

    This halves the work and holds all the digits that are kept. k-means can turn a difference in
    the last digit into other clusters. Differences due to rounding, to the number of threads or to
    the engine must not matter.
    """
    directions = np.empty(U.shape, dtype=np.float32)
    np.divide(U, norms[:, None], out=directions, casting="same_kind")
    return np.round(directions, DIGITS, out=directions)


def _cluster_qr(U: Array, n_clusters: int) -> Array:
    if U.shape[1] != n_clusters:
        raise ValueError(
            f"method='cluster_qr' needs n_components={U.shape[1]} equal to n_clusters={n_clusters}"
        )
    pivots = linalg.qr(U.T, pivoting=True, mode="r")[-1][:n_clusters]
    left, _, right = linalg.svd(U[pivots].T)
    return np.abs(U @ (left @ right)).argmax(axis=1)


def nearest_cluster(
    labels: Array,
    placed: Array,
    n_clusters: int,
    similarity: Similarity | None,
    weights: Array | None = None,
) -> Array:
    """Return the cluster of the highest mean similarity for every point that is not `placed`."""
    counts = np.ones(np.count_nonzero(placed)) if weights is None else weights[placed]
    sizes = np.bincount(labels[placed], counts, minlength=n_clusters)
    if similarity is None:
        return np.full(np.count_nonzero(~placed), sizes.argmax())
    members = sparse.csr_array(
        (counts / sizes[labels[placed]], (np.flatnonzero(placed), labels[placed])),
        shape=(len(labels), n_clusters),
    )

    def mean_similarity(rows: Array) -> Array:
        means = _symmetric_rows(similarity, rows) @ members
        return means.toarray() if sparse.issparse(means) else means

    nearest = np.empty(len(labels), dtype=np.int64)
    place_strays(np.flatnonzero(~placed), mean_similarity, nearest)
    return nearest[~placed]


def place_strays(strays: Any, mean_similarity: Callable[[Any], Any], labels: Any) -> None:
    """Write the cluster of the highest mean similarity to the `labels` of points without one.

    ``mean_similarity(rows)`` returns a row for each point and a column for each cluster. All arrays
    are of one kind, of NumPy or of torch.
    """
    n_at_once = max(STRAYS_AT_ONCE, SIMILARITIES_AT_ONCE // len(labels))
    for batch in gen_batches(len(strays), n_at_once):
        labels[strays[batch]] = mean_similarity(strays[batch]).argmax(axis=1)


def _symmetric_rows(similarity: Similarity, rows: Array) -> Matrix:
    if callable(similarity):
        return similarity(rows)
    S = sparse.csr_array(similarity) if sparse.issparse(similarity) else np.asarray(similarity)
    return S[rows] + S[:, rows].T
