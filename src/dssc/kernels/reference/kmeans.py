"""The steps of k-means and of k-means++."""

import numpy as np

from dssc._typing import Array


def nearest_centers(
    products: Array,
    halves: Array,
    points: Array,
    weights: Array,
    labels: Array,
    sums: Array,
    sizes: Array,
) -> int:
    """Write the nearest center of every point, and add the points to the sums of their centers."""
    nearest = np.argmin(halves - products, axis=1)
    n_changed = int(np.count_nonzero(labels != nearest))
    labels[:] = nearest
    np.add.at(sizes, nearest, weights)
    np.add.at(sums, nearest, weights[:, None] * points)
    return n_changed


def move_centers(centers: Array, sums: Array, sizes: Array) -> float:
    """Replace the centers by the means of their clusters; return the squared distance they move."""
    before = centers.copy()
    centers[:] = sums / np.where(sizes > 0, sizes, 1.0)[:, None]
    return float(np.square(centers - before).sum(dtype=np.float64))


def best_candidate(
    products: Array,
    squares: Array,
    candidates: Array,
    weights: Array,
    tolerance: float,
    nearest: Array,
    heights: Array,
) -> int:
    """Return which candidate leaves the smallest sum of squared distances from the centers."""
    distances = squares + squares[candidates][:, None] - 2 * products
    distances = np.clip(distances, 0.0, nearest)
    sums = distances @ weights
    best = int(np.argmax(sums <= sums.min() + tolerance))
    nearest[:] = distances[best]
    heights[:] = np.cumsum(weights * nearest)
    return best
