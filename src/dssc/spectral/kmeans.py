"""k-means from several starts.

It does what scikit-learn's KMeans does, from the same random numbers. For a thousand points, which
are clustered dozens of times before parameters are chosen, the checks and conversions there take
longer than k-means itself.
"""

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from dssc._threads import PRODUCTS_PER_THREAD, InThreads, block_threads
from dssc._typing import Array
from dssc._warnings import warn_user
from dssc.kernels import n_threads
from dssc.kernels.kmeans import nearest_centers

# Most steps of one start.
MAX_STEPS = 300
# Squared movement of the centers that ends a start, as a share of the mean variance of a feature.
TOLERANCE = 1e-4
# Points of a block. Sums over blocks are added in order, so that threads change no digit.
BLOCK_POINTS = 8192
# Relative difference up to which sums of distances count as equal: what rounded points allow.
EQUAL_SUMS = 1e-6
# Fewest points that the first centers are drawn from, if there are as many.
MIN_SEED_POINTS = 10_000
# Fewest points per cluster that the first centers are drawn from, if there are as many.
SEED_POINTS_PER_CLUSTER = 100


def kmeans_labels(
    points: Array,
    n_clusters: int,
    n_init: int,
    rng: np.random.RandomState,
    weights: Array | None = None,
) -> Array:
    """Return the labels of the start with the smallest sum of squared distances."""
    points = points - points.mean(axis=0)  # smaller numbers, more accurate distances
    lloyd = Lloyd(points, n_clusters, weights)
    best, smallest = np.zeros(len(points), dtype=np.int32), np.inf
    with block_threads(lloyd.n_threads) as in_threads:
        for _ in range(n_init):
            centers = first_centers(points, n_clusters, rng, weights)
            labels, total = lloyd.run(centers, in_threads)
            # Rounding does not make a start better than an equal one.
            if total < (1.0 - EQUAL_SUMS) * smallest:
                best, smallest = labels, total
    n_found = len(np.unique(best))
    if n_found < n_clusters:
        warn_user(
            f"Number of distinct clusters is {n_found}, fewer than n_clusters={n_clusters}: too "
            "many rows of the embedding are equal",
            ConvergenceWarning,
        )
    return best


def kmeans_of_sample(
    points: Array, n_clusters: int, n_drawn: int, rng: np.random.RandomState
) -> Array:
    """Return labels from one start of k-means on some points; others join the nearest center.

    They cost little and are nearly as good, for many clusterings that are compared.
    """
    drawn = points
    if n_drawn < len(points):
        drawn = points[np.sort(rng.choice(len(points), n_drawn, replace=False))]
    centers = first_centers(drawn, n_clusters, rng)
    lloyd = Lloyd(drawn, n_clusters)
    with block_threads(lloyd.n_threads) as in_threads:
        labels, _ = lloyd.run(centers, in_threads)
    if drawn is points:
        return labels
    sizes = np.maximum(np.bincount(labels, minlength=n_clusters), 1)
    places = labels, np.arange(n_drawn)
    means = sparse.csr_array((1.0 / sizes[labels], places), (n_clusters, n_drawn)) @ drawn
    lloyd = Lloyd(points, n_clusters)
    with block_threads(lloyd.n_threads) as in_threads:
        return lloyd.nearest(means.astype(points.dtype), in_threads)


class Lloyd:
    """Lloyd's algorithm on some points, for any start.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        The points.
    n_clusters : int
        Number of clusters.
    weights : ndarray of shape (n,), optional
        How often each point counts.
    """

    def __init__(self, points: Array, n_clusters: int, weights: Array | None = None):
        self.points = points
        self.weights = np.ones(len(points)) if weights is None else weights
        self.movement = TOLERANCE * float(points.var(axis=0).mean())
        starts = range(0, len(points), BLOCK_POINTS)
        self.blocks = [slice(start, start + BLOCK_POINTS) for start in starts]
        self.products = np.empty((len(points), n_clusters), dtype=points.dtype)

    @property
    def n_threads(self) -> int:
        """Number of threads that the products of all points and centers are worth."""
        n_products = self.products.size * self.points.shape[1]
        return min(len(self.blocks), n_threads(), 1 + n_products // int(PRODUCTS_PER_THREAD))

    def run(self, centers: Array, in_threads: InThreads) -> tuple[Array, float]:
        """Return the labels from some first centers, and the sum of squared distances."""
        labels = np.full(len(self.points), -1, dtype=np.int32)
        for _ in range(MAX_STEPS):
            n_changed, sums, sizes = self._step(centers, labels, in_threads)
            if n_changed == 0:
                break
            self._fill_empty(centers, labels, sums, sizes)
            means = (sums / np.where(sizes > 0, sizes, 1.0)[:, None]).astype(centers.dtype)
            movement = float(np.square(means - centers).sum())
            centers = means
            if movement <= self.movement:
                self._step(centers, labels, in_threads)
                break
        return labels, float(self.weights @ self._squared_distances(centers, labels))

    def nearest(self, centers: Array, in_threads: InThreads) -> Array:
        """Return the nearest of some centers for every point."""
        labels = np.full(len(self.points), -1, dtype=np.int32)
        self._step(centers, labels, in_threads)
        return labels

    def _step(
        self, centers: Array, labels: Array, in_threads: InThreads
    ) -> tuple[int, Array, Array]:
        """Update the labels; return how many changed, and sums and sizes of the new clusters."""
        halves = np.square(centers).sum(axis=1) / 2
        sums = np.zeros((len(self.blocks), *centers.shape))
        sizes = np.zeros((len(self.blocks), len(centers)))

        def step(place: int) -> int:
            block = self.blocks[place]
            points, products = self.points[block], self.products[block]
            np.matmul(points, centers.T, out=products)
            arrays = points, self.weights[block], labels[block], sums[place], sizes[place]
            return nearest_centers(products, halves, *arrays)

        n_changed = sum(in_threads(step, range(len(self.blocks))))
        return n_changed, sums.sum(axis=0), sizes.sum(axis=0)

    def _fill_empty(self, centers: Array, labels: Array, sums: Array, sizes: Array) -> None:
        """Move the points that are farthest from their centers to the clusters without points."""
        empty = np.flatnonzero(sizes == 0)
        if len(empty) == 0:
            return
        distances = self._squared_distances(centers, labels)
        farthest = np.argsort(-distances, kind="stable")[: len(empty)]
        for cluster, point in zip(empty, farthest[distances[farthest] > 0], strict=False):
            weight = self.weights[point]
            sums[labels[point]] -= weight * self.points[point]
            sizes[labels[point]] -= weight
            sums[cluster], sizes[cluster] = weight * self.points[point], weight

    def _squared_distances(self, centers: Array, labels: Array) -> Array:
        rest = self.points - centers[labels]
        return np.einsum("ij,ij->i", rest, rest, dtype=np.float64)


def n_seed_points(n_points: int, n_clusters: int) -> int:
    """Return how many of the points the first centers of k-means are drawn from."""
    return min(n_points, max(MIN_SEED_POINTS, SEED_POINTS_PER_CLUSTER * n_clusters))


def n_seed_trials(n_clusters: int) -> int:
    """Return how many candidates k-means++ draws for each center."""
    return 2 + int(np.log(n_clusters))


def first_centers(
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
