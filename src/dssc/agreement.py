"""How far clusterings of the same points agree."""

import numpy as np

from dssc._typing import Array


def rand_index(one: Array, two: Array, n_clusters: int) -> float:
    """Return the adjusted Rand index of two clusterings.

    It is the number that scikit-learn returns, without its checks, which take milliseconds.
    """
    cells = common_points(one, two, n_clusters).astype(np.int64)
    n, same = len(one), int(np.square(cells).sum())
    rows, columns = (int(np.square(cells.sum(axis=axis)).sum()) for axis in (1, 0))
    # Pairs of points that are together in both, in the first only, in the second only, in neither.
    both, first, second = same - n, rows - same, columns - same
    neither = n**2 - both - first - second - n
    if first == 0 and second == 0:
        return 1.0
    chance = (both + first) * (first + neither) + (both + second) * (second + neither)
    return 2.0 * (both * neither - first * second) / chance


def common_points(one: Array, two: Array, n_clusters: int) -> Array:
    """Return how many points each cluster of one labelling shares with each of another."""
    cells = np.bincount(one.astype(np.int64) * n_clusters + two, minlength=n_clusters**2)
    return cells.reshape(n_clusters, n_clusters).astype(np.float64)
