"""Points, their strongest neighbours, and how far they are from what these span."""

import numpy as np

from dssc._typing import Array


def strongest_neighbors(
    products: Array, own: Array, scales: Array, rows: Array, signed: bool, out: Array
) -> None:
    """Write the points of the largest similarities to each of some points, not to itself."""
    similarities = products * (own[:, None] + scales)
    if not signed:
        similarities = np.abs(similarities)
    similarities[np.arange(len(rows)), rows] = -np.inf
    out[:] = np.argsort(-similarities, axis=1, kind="stable")[:, : out.shape[1]]


def distances_from_leading_directions(
    cosines: Array, points: Array, sets: Array, dimension: int, negligible: float, out: Array
) -> None:
    """Write the squared distance of points of unit norm from the leading directions of sets."""
    for i, point in enumerate(points):
        members = np.setdiff1d(sets[i], point)
        values, vectors = np.linalg.eigh(cosines[np.ix_(members, members)])
        values, vectors = values[-dimension:], vectors[:, -dimension:]
        is_direction = values > negligible
        inside = (vectors.T @ cosines[point, members])[is_direction] ** 2 / values[is_direction]
        out[i] = np.clip(1.0 - inside.sum(), 0.0, 1.0)
