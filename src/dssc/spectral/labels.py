"""From a spectral embedding to labels."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg, sparse
from sklearn import config_context
from sklearn.cluster import KMeans
from sklearn.utils import check_array, gen_batches

from dssc._forking import safe_openmp
from dssc._threads import threads_for_products
from dssc._typing import Array, Matrix, RandomState
from dssc._validation import check_real, check_sample_weight, check_structure
from dssc.spectral.counts import check_counts, check_nonzero_rows

# A similarity between all samples: a matrix, or a function that returns rows of a symmetric one.
Similarity = ArrayLike | Matrix | Callable[[Array], Matrix]

# Points without a label that are placed at once.
STRAYS_AT_ONCE = 256
# Decimal digits of unit vectors that k-means takes into account.
DIGITS = 6
# Relative difference up to which sums of distances count as equal: what rounding to DIGITS allows.
EQUAL_SUMS = 1e-6
# Fewest points that the first centers are drawn from, if there are as many.
MIN_SEED_POINTS = 10_000
# Fewest points per cluster that the first centers are drawn from, if there are as many.
SEED_POINTS_PER_CLUSTER = 100


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
    norms = np.linalg.norm(U, axis=1)
    placed = norms > 0
    n_placed = int(np.count_nonzero(placed))
    check_nonzero_rows(n_placed, n_clusters)
    labels = np.empty(len(U), dtype=np.int32)
    weights = None if sample_weight is None else check_sample_weight(sample_weight, len(U))
    of_placed = None if weights is None else weights[placed]
    if method == "kmeans":
        kmeans = KMeans(
            n_clusters,
            init=partial(_first_centers, weights=of_placed),
            n_init=n_init,
            copy_x=False,
            random_state=random_state,
        )
        # float32 halves the work and holds all the digits that are kept below.
        directions = np.empty((n_placed, U.shape[1]), dtype=np.float32)
        np.divide(U[placed], norms[placed, None], out=directions, casting="same_kind")
        # k-means can turn a difference in the last digit into other clusters. Differences due to
        # rounding, to the number of threads or to the engine must not matter.
        np.round(directions, DIGITS, out=directions)
        # For a thousand points, scikit-learn's checks take longer than k-means.
        checked = config_context(assume_finite=True, skip_parameter_validation=True)
        with checked, safe_openmp(), threads_for_products(directions.size * n_clusters):
            labels[placed] = kmeans.fit_predict(directions, sample_weight=of_placed)
    elif method == "cluster_qr":
        # Eigenvectors grow like the root of a row's weight. Those of its copies do not.
        rows = U[placed] if of_placed is None else U[placed] / np.sqrt(of_placed)[:, None]
        labels[placed] = _cluster_qr(rows, n_clusters)
    else:
        raise ValueError(f"method={method!r} must be 'kmeans' or 'cluster_qr'")
    if n_placed < len(U):
        labels[~placed] = nearest_cluster(labels, placed, n_clusters, similarity, weights)
    return labels


def n_seed_points(n_points: int, n_clusters: int) -> int:
    """Return how many of the points the first centers of k-means are drawn from."""
    return min(n_points, max(MIN_SEED_POINTS, SEED_POINTS_PER_CLUSTER * n_clusters))


def n_seed_trials(n_clusters: int) -> int:
    """Return how many candidates k-means++ draws for each center."""
    return 2 + int(np.log(n_clusters))


def _first_centers(
    points: Array,
    n_clusters: int,
    random_state: np.random.RandomState,
    weights: Array | None = None,
) -> Array:
    """Return the first centers of k-means, chosen by k-means++ from a sample of the points."""
    n_drawn = n_seed_points(len(points), n_clusters)
    if len(points) > n_drawn:
        drawn = random_state.choice(len(points), n_drawn, replace=False)
        points = points[drawn]
        weights = None if weights is None else weights[drawn]
    return points[kmeans_seeds(points, n_clusters, random_state, weights)]


def kmeans_seeds(
    points: Array, n_clusters: int, rng: np.random.RandomState, weights: Array | None = None
) -> Array:
    """Return the indices of the points that k-means++ starts from (Arthur, Vassilvitskii, 2007).

    Each point is drawn with a probability in proportion to its squared distance from those before,
    times its weight.
    Of several candidates, the one that minimises the sum of squared distances is taken.
    scikit-learn does the same from the same random numbers, but repeats its checks and conversions
    for every center, which takes longer than the rest of k-means.
    """
    n, n_trials = len(points), n_seed_trials(n_clusters)
    squares = np.einsum("ij,ij->i", points, points)
    chosen = np.empty(n_clusters, dtype=np.int64)
    chosen[0] = rng.choice(n, p=np.full(n, 1.0 / n) if weights is None else weights / weights.sum())
    nearest = np.full(n, np.inf, dtype=points.dtype)
    candidates, total = chosen[:1], 0.0
    for i in range(n_clusters):
        if i > 0:
            costs = nearest if weights is None else weights * nearest
            heights = np.cumsum(costs, dtype=np.float64)
            total = heights[-1]
            candidates = np.searchsorted(heights, rng.uniform(size=n_trials) * total)
            np.minimum(candidates, n - 1, out=candidates)
        products = points[candidates] @ points.T
        distances = -2.0 * products + squares + squares[candidates, None]
        np.clip(distances, 0.0, nearest, out=distances)
        # Points of one component are equal. Taking the first of them keeps rounding out of it.
        costs = distances if weights is None else weights * distances
        sums = costs.sum(axis=1, dtype=np.float64)
        best = np.argmax(sums <= sums.min() + EQUAL_SUMS * total)
        chosen[i], nearest = candidates[best], distances[best]
    return chosen


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
    for batch in gen_batches(len(strays), STRAYS_AT_ONCE):
        labels[strays[batch]] = mean_similarity(strays[batch]).argmax(axis=1)


def _symmetric_rows(similarity: Similarity, rows: Array) -> Matrix:
    if callable(similarity):
        return similarity(rows)
    S = sparse.csr_array(similarity) if sparse.issparse(similarity) else np.asarray(similarity)
    return S[rows] + S[:, rows].T
