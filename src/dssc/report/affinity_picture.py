"""The affinity as a small picture, for any number of points."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from dssc._typing import Array

# Most pixels per side.
MAX_PIXELS = 420
# Level, of 255, of the smallest entry: a single entry must be visible.
FAINTEST = 40
# Quantile of the pixels that is shown at full strength: the few largest would hide the others.
FULL_STRENGTH = 0.95


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
        Ends of the clusters, as fractions of the side.
    """

    levels: Array
    order: Array
    bounds: list[float]


def draw_affinity(graph: sparse.csr_array, labels: Array, n_clusters: int) -> AffinityPicture:
    """Sum the affinity that each pixel covers, with points sorted by cluster."""
    n = graph.shape[0]
    order = np.argsort(labels, kind="stable")
    rank = np.argsort(order)
    side = min(n, MAX_PIXELS)
    rows = np.repeat(np.arange(n), np.diff(graph.indptr))
    pixels = (rank[rows] * side // n) * side + rank[graph.indices] * side // n
    mass = np.bincount(pixels, graph.data, minlength=side * side)
    levels = np.zeros(side * side, dtype=np.uint8)
    drawn = mass > 0
    if drawn.any():
        top = np.quantile(mass[drawn], FULL_STRENGTH)
        strength = np.sqrt(np.minimum(mass[drawn] / top, 1.0))
        levels[drawn] = np.rint(FAINTEST + (255 - FAINTEST) * strength)
    sizes = np.bincount(labels, minlength=n_clusters)
    bounds = (np.cumsum(sizes) / n).round(5).tolist()
    return AffinityPicture(levels.reshape(side, side), order, bounds)
