"""k-means from several starts.

It does what scikit-learn's KMeans does, from the same random numbers. For a thousand points, which
are clustered dozens of times before parameters are chosen, the checks and conversions there take
longer than k-means itself.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import gen_batches

from dssc._threads import PRODUCTS_PER_THREAD, InThreads, block_threads
from dssc._typing import Array
from dssc._warnings import warn_user
from dssc.kernels import n_threads
from dssc.kernels.kmeans import best_candidate, move_centers, nearest_centers

# Most steps of one start.
MAX_STEPS = 300
# Squared movement of the centers that ends a start, as a share of the mean variance of a feature.
TOLERANCE = 1e-4
# Points of a block. Sums over blocks are added in order, so that threads change no digit.
BLOCK_POINTS = 8192
# Points of all starts that take their steps together.
MOST_TOGETHER = 1 << 17
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
    best, smallest = np.zeros(len(points), dtype=np.int32), np.inf
    for labels, total in kmeans_runs(points, n_clusters, n_init, rng, weights):
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


def kmeans_runs(
    points: Array,
    n_clusters: int,
    n_runs: int,
    rng: np.random.RandomState,
    weights: Array | None = None,
) -> Iterator[tuple[Array, float]]:
    """Yield the labels of each of several starts, and the sum of squared distances.

    Starts take their steps together, as many at a time as fit into memory.
    """
    points = points - points.mean(axis=0)  # smaller numbers, more accurate distances
    lloyd = Lloyd(points, n_clusters, weights)
    n_together = max(1, MOST_TOGETHER // len(points))
    with block_threads(lloyd.n_threads(min(n_runs, n_together))) as in_threads:
        for some in gen_batches(n_runs, n_together):
            together = range(*some.indices(n_runs))
            starts = [first_centers(points, n_clusters, rng, weights) for _ in together]
            yield from zip(*lloyd.run(np.stack(starts), in_threads), strict=True)


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
    with block_threads(lloyd.n_threads()) as in_threads:
        labels = lloyd.run(centers[None], in_threads)[0][0]
    if drawn is points:
        return labels
    sizes = np.maximum(np.bincount(labels, minlength=n_clusters), 1)
    places = labels, np.arange(n_drawn)
    means = sparse.csr_array((1.0 / sizes[labels], places), (n_clusters, n_drawn)) @ drawn
    lloyd = Lloyd(points, n_clusters)
    with block_threads(lloyd.n_threads()) as in_threads:
        return lloyd.nearest(means.astype(points.dtype), in_threads)


class Lloyd:
    """Lloyd's algorithm on some points, for any starts.

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
        self.points, self.n_clusters = points, n_clusters
        self.weights = np.ones(len(points)) if weights is None else weights
        self.movement = TOLERANCE * float(points.var(axis=0).mean())
        starts = range(0, len(points), BLOCK_POINTS)
        self.blocks = [slice(start, start + BLOCK_POINTS) for start in starts]

    def n_threads(self, n_runs: int = 1) -> int:
        """Return the number of threads that the products of points and centers are worth."""
        n_products = n_runs * self.n_clusters * self.points.size
        n_tasks = n_runs * len(self.blocks)
        return min(n_tasks, n_threads(), 1 + n_products // int(PRODUCTS_PER_THREAD))

    def run(self, centers: Array, in_threads: InThreads) -> tuple[Array, Array]:
        """Return labels and the sums of squared distances of several starts.

        `centers` has the shape (n_runs, n_clusters, d), and labels have (n_runs, n).
        """
        labels = np.full((len(centers), len(self.points)), -1, dtype=np.int32)
        centers, moving = centers.copy(), list(range(len(centers)))
        for _ in range(MAX_STEPS):
            steps = zip(moving, *self._step(centers, labels, moving, in_threads), strict=True)
            moving = []
            last: list[int] = []
            for run, n_changed, sums, sizes in steps:
                if n_changed == 0:
                    continue
                if not sizes.all():
                    self._fill_empty(centers[run], labels[run], sums, sizes)
                movement = move_centers(centers[run], sums, sizes)
                (moving if movement > self.movement else last).append(run)
            if last:
                self._step(centers, labels, last, in_threads)
            if not moving:
                break
        pairs = zip(centers, labels, strict=True)
        totals = [float(self.weights @ self._squared_distances(*pair)) for pair in pairs]
        return labels, np.array(totals)

    def nearest(self, centers: Array, in_threads: InThreads) -> Array:
        """Return the nearest of some centers for every point."""
        labels = np.full((1, len(self.points)), -1, dtype=np.int32)
        self._step(centers[None], labels, [0], in_threads)
        return labels[0]

    def _step(
        self, centers: Array, labels: Array, runs: list[int], in_threads: InThreads
    ) -> tuple[Array, Array, Array]:
        """Update the labels of some runs.

        Returns how many changed in each run, and sums and sizes of the new clusters.
        """
        halves = [np.einsum("ij,ij->i", centers[run], centers[run]) / 2 for run in runs]
        n_runs, n_blocks = len(runs), len(self.blocks)
        sums = np.zeros((n_runs, n_blocks, *centers.shape[1:]))
        sizes = np.zeros((n_runs, n_blocks, self.n_clusters))

        def step(i: int, place: int) -> int:
            run, block = runs[i], self.blocks[place]
            points = self.points[block]
            own = points, self.weights[block], labels[run, block]
            return nearest_centers(
                points @ centers[run].T, halves[i], *own, sums[i, place], sizes[i, place]
            )

        tasks = zip(*product(range(n_runs), range(n_blocks)), strict=True)
        n_changed = np.reshape(list(in_threads(step, *tasks)), (n_runs, n_blocks))
        return n_changed.sum(axis=1), sums.sum(axis=1), sizes.sum(axis=1)

    def _fill_empty(self, centers: Array, labels: Array, sums: Array, sizes: Array) -> None:
        """Move the points that are farthest from their centers to the clusters without points."""
        empty = np.flatnonzero(sizes == 0)
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
    times its weight. Of several candidates, the one that minimises the sum of squared distances is
    taken.
    """
    n, n_trials = len(points), n_seed_trials(n_clusters)
    weights = np.ones(n) if weights is None else weights
    squares = np.einsum("ij,ij->i", points, points)
    nearest, heights = np.full(n, np.inf, dtype=points.dtype), np.zeros(n)
    chosen = np.empty(n_clusters, dtype=np.int64)
    candidates = np.array([rng.choice(n, p=weights / weights.sum())])
    draws = rng.uniform(size=(n_clusters - 1, n_trials))
    for i in range(n_clusters):
        total = heights[-1]
        if i > 0:
            candidates = heights.searchsorted(draws[i - 1] * total)
        products = points[candidates] @ points.T
        # Points of one component are equal. Taking the first of them keeps rounding out of it.
        tolerance = EQUAL_SUMS * total
        best = best_candidate(products, squares, candidates, weights, tolerance, nearest, heights)
        chosen[i] = candidates[best]
    return chosen
