"""A step of k-means."""

from dssc._typing import Array
from dssc.kernels.compiling import leaf


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
