"""The scan over tiles of products that keeps every point's largest similarities."""

import numpy as np

from dssc._typing import Array


def keep_largest(
    tile: Array,
    row: int,
    column: int,
    owner: Array,
    partner: Array,
    margins: Array,
    norms: Array,
    k: int,
    capacity: int,
    values: Array,
    places: Array,
    counts: Array,
    thresholds: Array,
) -> None:
    """Add the products of a tile to the lists of their rows and columns."""
    height, width = tile.shape
    for i in range(row, row + height):
        for j in range(max(column, i + 1) if row == column else column, column + width):
            size = abs(tile[i - row, j - column]) + margins[i] * norms[j]
            for one, other in ((i, j), (j, i)):
                bound = size * (owner[one] + partner[other])
                if bound > thresholds[one] and counts[one] >= capacity:
                    _shorten(one, k, values, places, counts, thresholds)
                if bound > thresholds[one]:
                    values[one, counts[one]] = bound
                    places[one, counts[one]] = other
                    counts[one] += 1


def shorten_lists(k: int, values: Array, places: Array, counts: Array, thresholds: Array) -> None:
    """Cut every longer list to its k best, and raise its threshold to the smallest of them."""
    for i, count in enumerate(counts):
        if count > k:
            _shorten(i, k, values, places, counts, thresholds)


def _shorten(
    i: int, k: int, values: Array, places: Array, counts: Array, thresholds: Array
) -> None:
    best = np.argsort(-values[i, : counts[i]], kind="stable")[:k]
    values[i, :k], places[i, :k] = values[i, best], places[i, best]
    counts[i] = k
    thresholds[i] = values[i, k - 1]


def sort_lists(values: Array, places: Array, counts: Array) -> None:
    """Sort every list in descending order of its values."""
    for i, count in enumerate(counts):
        order = np.argsort(-values[i, :count], kind="stable")
        values[i, :count], places[i, :count] = values[i, order], places[i, order]


def paired_products(vectors: Array, rest: Array, rows: Array, columns: Array, out: Array) -> None:
    """Write the products of pairs of rows of ``vectors + rest`` in float64."""
    exact = vectors.astype(np.float64) + rest
    out[:] = np.sum(exact[rows] * exact[columns], axis=1)


def mark_above(
    tile: Array,
    owner: Array,
    partner: Array,
    margins: Array,
    norms: Array,
    alpha: Array,
    beta: Array,
    out: Array,
) -> None:
    """Mark the products whose bound is above the sum of the potentials of row and column."""
    size = np.abs(tile) + margins[:, None] * norms
    out[:] = size * (owner[:, None] + partner) > alpha[:, None] + beta


def unit_rows(X: Array, out: Array) -> None:
    """Write the rows of X, scaled to unit norm, in float64."""
    out[:] = X
    out /= np.abs(out).max(axis=1)[:, None]
    out /= np.linalg.norm(out, axis=1)[:, None]


def split_rows(exact: Array, places: Array, vectors: Array, rest: Array, norms: Array) -> None:
    """Write row i as a sum of two float32 rows, ``vectors + rest`` at ``places[i]``, and its norm.

    The norm goes to ``norms[i]``.
    """
    vectors[places] = exact
    rest[places] = exact - vectors[places]
    norms[:] = np.linalg.norm(exact, axis=1)
