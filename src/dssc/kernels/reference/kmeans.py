"""A step of k-means."""

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
