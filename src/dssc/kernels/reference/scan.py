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
    found = np.arange(tile.size)
    if row == column:
        found = found[found // tile.shape[1] < found % tile.shape[1]]
    starts, rows, columns = np.array([0, len(found)]), np.array([row]), np.array([column])
    keep_listed(
        found, tile.ravel()[found], starts, rows, columns, np.array([tile.shape[1]]), owner,
        partner, margins, norms, k, capacity, values, places, counts, thresholds,
    )  # fmt: skip


def list_candidates(
    tile: Array,
    is_diagonal: bool,
    owner: Array,
    partner: Array,
    margins: Array,
    thresholds: Array,
    owners: Array,
    partners: Array,
    norms: Array,
    others: Array,
    found: Array,
    products: Array,
) -> int:
    """List the products of a tile whose bound is above the threshold of their row or column."""
    size = np.abs(tile) + margins[:, None] * norms
    to_row, to_column = size * (owner[:, None] + partners), size * (owners + partner[:, None])
    is_candidate = (to_row > thresholds[:, None]) | (to_column > others)
    at = np.flatnonzero(np.triu(is_candidate, 1) if is_diagonal else is_candidate)
    found[: len(at)], products[: len(at)] = at, tile.ravel()[at]
    return len(at)


def keep_listed(
    found: Array,
    products: Array,
    starts: Array,
    rows: Array,
    columns: Array,
    widths: Array,
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
    """Add the products that `list_candidates` found in tiles to the lists, as `keep_largest`."""
    tiles = np.repeat(np.arange(len(rows)), np.diff(starts))
    for t, at, product in zip(tiles, found, products, strict=True):
        i, j = rows[t] + at // widths[t], columns[t] + at % widths[t]
        size = abs(product) + margins[i] * norms[j]
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


def paired_products(
    vectors: Array,
    rest: Array,
    rows: Array,
    others: Array,
    other_rest: Array,
    columns: Array,
    out: Array,
) -> None:
    """Write products of ``(vectors + rest)[rows]`` and ``(others + other_rest)[columns]``."""
    left = vectors.astype(np.float64)[rows] + rest[rows]
    right = others.astype(np.float64)[columns] + other_rest[columns]
    out[:] = np.sum(left * right, axis=1)


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
