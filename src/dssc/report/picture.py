"""The affinity as a small picture, whatever its size."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

MOST_PIXELS = 420
FAINTEST = 40  # of 255: a single entry must be seen
TYPICAL = 0.95  # quantile shown at full strength; a few largest entries would hide the rest


@dataclass(frozen=True)
class AffinityPicture:
    """A square of gray levels, points sorted by cluster.

    Attributes
    ----------
    levels : ndarray of shape (side, side), uint8
        0 where there is no affinity.
    order : ndarray of shape (n,)
        Points in the order of rows and columns.
    bounds : list of float
        Where clusters end, as shares of the side.
    """

    levels: np.ndarray
    order: np.ndarray
    bounds: list[float]


def draw_affinity(graph: sparse.csr_array, labels: np.ndarray, n_clusters: int) -> AffinityPicture:
    """Add up the affinity under each pixel, with points sorted by cluster."""
    n = graph.shape[0]
    order = np.argsort(labels, kind="stable")
    rank = np.empty(n, dtype=np.int64)
    rank[order] = np.arange(n)
    side = min(n, MOST_PIXELS)
    rows = np.repeat(np.arange(n), np.diff(graph.indptr))
    pixels = (rank[rows] * side // n) * side + rank[graph.indices] * side // n
    mass = np.bincount(pixels, graph.data, minlength=side * side)
    levels = np.zeros(side * side, dtype=np.uint8)
    drawn = mass > 0
    if drawn.any():
        top = np.quantile(mass[drawn], TYPICAL)
        strength = np.sqrt(np.minimum(mass[drawn] / top, 1.0))
        levels[drawn] = np.rint(FAINTEST + (255 - FAINTEST) * strength)
    sizes = np.bincount(labels, minlength=n_clusters)
    bounds = (np.cumsum(sizes) / n).round(5).tolist()
    return AffinityPicture(levels.reshape(side, side), order, bounds)
