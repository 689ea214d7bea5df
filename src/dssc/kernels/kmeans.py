"""The steps of k-means and of k-means++."""

import numpy as np

from dssc._typing import Array
from dssc.kernels.compiling import leaf, reduction


@leaf
def nearest_centers(
    products: Array,
    halves: Array,
    points: Array,
    weights: Array,
    labels: Array,
    sums: Array,
    sizes: Array,
) -> int:
    """Write the nearest center of every point, and add the points to the sums of their centers.

    `products` are those of points and centers, and `halves` the squared norms of the centers over
    two. Returns how many labels have changed.
    """
    n_changed = 0
    for i in range(len(points)):
        nearest, smallest = 0, halves[0] - products[i, 0]
        for c in range(1, len(halves)):
            distance = halves[c] - products[i, c]
            if distance < smallest:
                nearest, smallest = c, distance
        n_changed += labels[i] != nearest
        labels[i] = nearest
        sizes[nearest] += weights[i]
        for f in range(points.shape[1]):
            sums[nearest, f] += weights[i] * points[i, f]
    return n_changed


@leaf
def move_centers(centers: Array, sums: Array, sizes: Array) -> float:
    """Replace the centers by the means of their clusters; return the squared distance they move.

    `sums` are those of the points of each cluster, and `sizes` the sums of their weights. The
    center of an empty cluster becomes zero.
    """
    movement = 0.0
    for c in range(len(sizes)):
        size = sizes[c] if sizes[c] > 0 else 1.0
        for f in range(centers.shape[1]):
            before = centers[c, f]
            centers[c, f] = sums[c, f] / size
            step = centers[c, f] - before
            movement += step * step
    return movement


@reduction
def best_candidate(
    products: Array,
    squares: Array,
    candidates: Array,
    weights: Array,
    tolerance: float,
    nearest: Array,
    heights: Array,
) -> int:
    """Return which candidate leaves the smallest sum of squared distances from the centers.

    `products` are those of the candidates and all points, and are overwritten; `squares` the
    squared norms of the points. Of candidates whose sums differ by `tolerance` at most, the first
    is returned. `nearest`, the squared distances from the centers so far, takes its distances, and
    `heights` their cumulative sums.
    """
    sums = np.zeros(len(candidates))
    zero = squares[0] - squares[0]  # of their type, so that the loop stays in it
    for c in range(len(candidates)):
        own, total = squares[candidates[c]], 0.0
        for i in range(len(squares)):
            product = products[c, i]
            distance = squares[i] + own - (product + product)
            distance = min(max(distance, zero), nearest[i])
            products[c, i] = distance
            total += weights[i] * distance
        sums[c] = total
    limit = np.inf
    for c in range(len(candidates)):
        limit = min(limit, sums[c] + tolerance)
    best = 0
    while sums[best] > limit:
        best += 1
    total = 0.0
    for i in range(len(squares)):
        nearest[i] = products[best, i]
        total += weights[i] * nearest[i]
        heights[i] = total
    return best
