"""Choosing eta1, and whether signs count, before anything is clustered.

A good eta1 makes neighbours of points that lie in one subspace of low dimension. So we take some
points, each with its strongest neighbours and their strongest neighbours, and measure how far the
point is from the leading directions of this neighbourhood, to which it does not belong itself. If
eta1 is too small, coefficients fit noise, and the neighbourhood is a mixture that needs many
directions. If it is too large, only points at the smallest angle are neighbours, and where a
cluster is a subspace they do not span it. The eta1 of the smallest mean distance is taken. It needs
no number of clusters, and a sample of points is enough.

Where a cluster holds x as well as -x, which is what subspaces look like, the strongest neighbour of
a point is as often on the opposite side as on its own. Then signs say nothing. In all other data
the opposite of a point is as far from it as anything can be, and a negative coefficient is no
similarity.

The same points give the dimension of the data, which the number of neighbours depends on: the
distances to the nearest neighbours of a point grow the slower, the more directions there are.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse

from dssc._devices import as_array
from dssc._threads import (
    PRODUCTS_PER_THREAD,
    InThreads,
    block_threads,
    threads_for_eigenvectors,
)
from dssc._typing import Array
from dssc._warnings import warn_user
from dssc.features import unit_norm
from dssc.kernels import n_threads
from dssc.kernels.neighborhoods import distances_from_leading_directions, strongest_neighbors
from dssc.subspaces import FEW_FEATURES, independent_features, unit_rows, without_clusters

# Values of eta1 that are compared, for REFERENCE_SIZE points; more points need larger ones.
ETA1_VALUES = (1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1000.0, np.inf)
REFERENCE_SIZE = 1000
# Place of the value that is taken where all are equally good, as without noise.
MIDDLE = ETA1_VALUES.index(1.0)
# Decimals of a distance; beyond them, rounding would decide.
DIGITS = 6
# Points that neighbours are sought among: so many that their products cost about the same in all
# dimensions, within limits, and enough for every cluster.
PRODUCT_OPERATIONS, FEWEST_SOUGHT, MOST_SOUGHT, SOUGHT_PER_CLUSTER = 1e9, 1000, 2000, 40
# Points whose neighbourhood is looked at.
N_POINTS = 320
# Nearest neighbours whose distances give the dimension.
N_NEAREST = 6
# Median of a gamma variable of shape N_NEAREST - 1, relative to its mean.
MEDIAN_RATIO = 0.934
# One minus a cosine below this is zero.
SAME_DIRECTION = 1e-12
# Largest dimension; the nearest neighbours of a point may be equally far from it.
LARGEST_DIMENSION = 1000.0
# Points that are compared with points without clusters: few first. Neighbours are nearer in more
# points, so the distance falls where there are clusters, and stays near one where there are none.
FEW_COMPARED, COMPARED = 300, 1000
# Distance of few points, relative to points without clusters, that none without clusters have.
CLEARLY_NEARER = 0.75
# Fewest samples that have neighbourhoods.
FEWEST = 12
# Share of points with the strongest neighbour on the opposite side from which signs say nothing.
# It is one half if they say nothing, and below one quarter in data of all other kinds.
OPPOSITE_SHARE = 1 / 3
# An eigenvalue below this share of the largest is zero.
NEGLIGIBLE = 1e-6


class Shape(NamedTuple):
    """Which neighbourhoods are looked at, and what they are compared with.

    Attributes
    ----------
    n_near, n_next : int
        Strongest neighbours of a point in its neighbourhood, and of each of these.
    dimension : int
        Leading directions of a neighbourhood, about half of what spans it.
    """

    n_near: int
    n_next: int
    dimension: int


# Small neighbourhoods tell values of eta1 apart; wide ones tell clusters from chance.
SMALL, WIDE = Shape(3, 5, 8), Shape(3, 8, 12)


class Neighborhoods(NamedTuple):
    """What one eta1 makes of the neighbourhoods.

    Attributes
    ----------
    eta1 : float
        Ridge penalty, as it would be used for all points.
    distance : float
        Mean squared distance of a point from the leading directions of its neighbourhood.
    """

    eta1: float
    distance: float


@dataclass(frozen=True)
class ExpressionChoice:
    """How to express the points by each other.

    Attributes
    ----------
    eta1 : float
        Ridge penalty for all points.
    signed : bool
        Whether negative coefficients count as no similarity.
    opposite_share : float
        Share of points whose strongest neighbour is on the opposite side.
    dimension : float
        Number of directions in which points vary locally; see `Sample.dimension`.
    tried : list of Neighborhoods
        What was compared, the best first.
    """

    eta1: float
    signed: bool
    opposite_share: float
    dimension: float
    tried: list[Neighborhoods]

    @property
    def is_symmetric(self) -> bool:
        """Whether the nearest neighbours are about as often on the opposite side."""
        return self.opposite_share >= OPPOSITE_SHARE


def choose_expression(
    X: Any, n_clusters: int | None = None, eta1: float | None = None, signed: bool | None = None
) -> ExpressionChoice:
    """Choose eta1 and whether signs count, unless they are given, and measure the dimension.

    Parameters
    ----------
    X : ndarray, csr_array or tensor of shape (n_samples, n_features)
        Samples, none of them zero; at least 12.
    n_clusters : int or None
        Number of clusters, if it is known.
    eta1 : float or None
        The eta1 to use; None to choose it.
    signed : bool or None
        Whether signs count; None to choose it.
    """
    n, d = X.shape
    n_affordable = np.clip((PRODUCT_OPERATIONS / d) ** 0.5, FEWEST_SOUGHT, MOST_SOUGHT)
    n_drawn = min(n, max(int(n_affordable), SOUGHT_PER_CLUSTER * (n_clusters or 0)))
    rng = np.random.default_rng(0)
    sample = Sample(_drawn(X, n_drawn, rng))
    if sample.rank == 1:
        warn_user(
            f"all {n} points are equal or opposite once they are scaled to unit norm, so there is "
            "nothing to cluster by; with a single feature, or if only lengths differ, use "
            "affine=True, or k-means on the unscaled data",
            UserWarning,
        )
    share = sample.opposite_share()
    signed = share < OPPOSITE_SHARE if signed is None else signed
    dimension = sample.dimension(signed)
    if eta1 is not None:
        return ExpressionChoice(eta1, signed, share, dimension, [])
    points = rng.permutation(n_drawn)[:N_POINTS]

    def distance(place: int) -> float:
        in_sample = ETA1_VALUES[place] * n_drawn / REFERENCE_SIZE
        return sample.mean_distance(in_sample, signed, points, SMALL)

    n_values, n_at_once = len(ETA1_VALUES), sample.threads_for_distances(len(points), SMALL)
    with block_threads(n_at_once) as in_threads:
        if n_at_once < n_values:
            distances = _around_the_smallest(distance, n_values, MIDDLE, in_threads)
        else:  # threads would idle, so they compute all values at once, wanted or not
            known = list(in_threads(distance, range(n_values)))
            distances = _around_the_smallest(known.__getitem__, n_values, MIDDLE)
    tried = [Neighborhoods(ETA1_VALUES[i] * n / REFERENCE_SIZE, distances[i]) for i in distances]
    return ExpressionChoice(tried[0].eta1, signed, share, dimension, tried)


def compared_with_chance(X: Any, how: ExpressionChoice) -> float:
    """Return `distance_from_neighbors` for a chosen expression, of few points if it is small."""
    ratio = distance_from_neighbors(X, how.eta1, how.signed, FEW_COMPARED)
    if ratio <= CLEARLY_NEARER or X.shape[0] <= FEW_COMPARED:
        return ratio
    return distance_from_neighbors(X, how.eta1, how.signed)


def distance_from_neighbors(X: Any, eta1: float, signed: bool, n_compared: int = COMPARED) -> float:
    """Return the distance of points from neighbourhoods, relative to points without clusters.

    The points without clusters are random sums of all points, with the same mean and covariance or,
    if they are closer to their neighbourhoods, points with independent features, if these are few.
    About one means that neighbourhoods are no nearer to a subspace than chance makes them.
    """
    rng = np.random.default_rng(0)
    n_drawn = min(X.shape[0], n_compared)
    drawn = _drawn(X, n_drawn, rng)
    rows = unit_rows(drawn)
    mixed = without_clusters(rows, rng)
    points = rng.permutation(n_drawn)[:N_POINTS]

    samples = [Sample(rows), Sample(mixed)]
    if drawn.shape[1] <= FEW_FEATURES and not sparse.issparse(drawn):
        made = independent_features(drawn, rng)
        samples += [Sample(made)] if len(made) >= FEWEST else []

    def distance(sample: Sample) -> float:
        usable = points[points < sample.n_points]  # fewer points are distinct in some samples
        in_sample = eta1 * n_drawn / X.shape[0]
        return sample.mean_distance(in_sample, signed, usable, WIDE)

    with block_threads(samples[0].threads_for_distances(len(points), WIDE)) as in_threads:
        own, *chance = in_threads(distance, samples)
    return float(own / max(min(chance), NEGLIGIBLE))


def _drawn(X: Any, count: int, rng: np.random.Generator) -> Any:
    """Return some rows in main memory."""
    n = X.shape[0]
    return as_array(X if count == n else X[np.sort(rng.choice(n, count, replace=False))])


def _around_the_smallest(
    function: Callable[[int], float], n_places: int, middle: int, in_threads: InThreads = map
) -> dict[int, float]:
    """Return values of a function at every second place and beside the smallest of them.

    The smallest value comes first; of equal ones, the one nearest to the middle. `in_threads` is a
    `map`.
    """
    values: dict[int, float] = {}

    def add(places: list[int]) -> None:
        values.update(zip(places, in_threads(function, places), strict=True))

    add(list(range(n_places - 1, -1, -2)))

    def ranking() -> list[int]:
        return sorted(values, key=lambda i: (values[i], abs(i - middle), i))

    best = -1
    while best != (best := ranking()[0]):
        add(sorted({best - 1, best + 1} & set(range(n_places)) - values.keys()))
    return {i: values[i] for i in ranking()}


class Sample:
    """Points of unit norm by their cosines and principal coordinates, for every eta1."""

    def __init__(self, X: Any):
        if sparse.issparse(X):
            X = unit_norm(X.astype(np.float64))
            self.cosines = (X @ X.T).toarray()
        else:
            X = unit_rows(X)
            self.cosines = X @ X.T
        is_tall = not sparse.issparse(X) and X.shape[1] < X.shape[0]
        # Single precision halves the time and shows all eigenvalues that are not negligible.
        products = (X.T @ X if is_tall else self.cosines).astype(np.float32)
        with threads_for_eigenvectors(len(products)):
            values, vectors = linalg.eigh(products, driver="evd")
        if is_tall:
            coordinates = X.astype(np.float32) @ vectors
        else:
            coordinates = vectors * np.sqrt(np.maximum(values, 0.0))
        kept = values > NEGLIGIBLE * values[-1]
        self.values = values[kept].astype(np.float64)
        self.coordinates = coordinates[:, kept]

    @property
    def n_points(self) -> int:
        """Number of points."""
        return len(self.cosines)

    @property
    def rank(self) -> int:
        """Dimension of what the points span."""
        return len(self.values)

    def opposite_share(self) -> float:
        """Return the share of points whose largest cosine in magnitude is negative."""
        sizes = np.abs(self.cosines)
        np.fill_diagonal(sizes, -1.0)
        strongest = sizes.argmax(axis=1)
        return float(np.mean(self.cosines[np.arange(self.n_points), strongest] < 0))

    def dimension(self, signed: bool) -> float:
        """Return the number of directions in which points vary locally.

        In d dimensions, the mean logarithm of the distance to a far neighbour over that to a nearer
        one is about 1 / d (Levina and Bickel, 2005). The median over points keeps single points,
        such as near copies of others, from counting.
        """
        count = min(N_NEAREST, self.n_points - 1)
        nearest = np.empty((self.n_points, count), dtype=np.int64)
        points, ones = np.arange(self.n_points), np.ones(self.n_points, dtype=np.float32)
        strongest_neighbors(self.cosines.astype(np.float32), ones, ones, points, signed, nearest)
        sizes = np.take_along_axis(self.cosines, nearest, axis=1)
        sizes = sizes if signed else np.abs(sizes)
        # Logarithms of distances, up to a constant, in rising order.
        logs = np.log(np.maximum(1.0 - np.sort(sizes, axis=1)[:, ::-1], SAME_DIRECTION)) / 2
        slopes = logs[:, -1] - logs[:, :-1].mean(axis=1)
        return float(MEDIAN_RATIO / max(np.median(slopes), 1.0 / LARGEST_DIMENSION))

    def threads_for_distances(self, n_points: int, shape: Shape) -> int:
        """Return the number of threads that calls of `mean_distance` are worth."""
        n_rows = n_points * (1 + shape.n_near)
        return min(n_threads(), 1 + int(n_rows * self.coordinates.size // PRODUCTS_PER_THREAD))

    def mean_distance(self, eta1: float, signed: bool, points: Array, shape: Shape) -> float:
        """Return the mean squared distance of points from the subspace of their neighbourhood."""
        sets = self._neighborhoods(eta1, signed, points, shape)
        dimension = max(1, min(shape.dimension, self.rank // 2))
        distances = np.empty(len(points))
        arguments = self.cosines, points, sets, dimension, NEGLIGIBLE
        distances_from_leading_directions(*arguments, distances)
        return round(float(np.mean(distances)), DIGITS)

    def _neighborhoods(self, eta1: float, signed: bool, points: Array, shape: Shape) -> Array:
        """Return the members of neighbourhoods, sorted; some are repeated or the point itself."""
        n_near, n_next = (min(count, self.n_points - 2) for count in shape[:2])
        strongest = self._strongest(eta1, signed)
        near = strongest(points, n_near)
        distinct, places = np.unique(near, return_inverse=True)
        further = strongest(distinct, n_next)[places.reshape(near.shape)]
        sets = np.concatenate([near, further.reshape(len(points), -1)], axis=1)
        sets.sort(axis=1)
        return sets

    def _strongest(self, eta1: float, signed: bool) -> Callable[[Array, int], Array]:
        """Return the function that finds the strongest neighbours of points, in any order."""
        if np.isinf(eta1):
            vectors, scales = self.coordinates, np.ones(self.n_points, dtype=np.float32)
        else:
            vectors = self.coordinates / np.sqrt(self.values + eta1).astype(np.float32)
            leverages = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)
            scales = (1.0 / np.maximum(1.0 - leverages, NEGLIGIBLE)).astype(np.float32)

        def strongest(rows: Array, count: int) -> Array:
            neighbors = np.empty((len(rows), count), dtype=np.int64)
            products = vectors[rows] @ vectors.T
            strongest_neighbors(products, scales[rows], scales, rows, signed, neighbors)
            return neighbors

        return strongest
