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
    lists = values, places, counts, thresholds
    for r, c in np.ndindex(tile.shape):
        i, j = row + r, column + c
        if row == column and r >= c:
            continue
        bound = abs(tile[r, c]) + margins[i] * norms[j]
        _keep(i, j, bound * (owner[i] + partner[j]), k, capacity, *lists)
        _keep(j, i, bound * (owner[j] + partner[i]), k, capacity, *lists)


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
    blocks: Array,
    size: int,
    found: Array,
    products: Array,
    starts: Array,
    rows: Array,
    columns: Array,
    widths: Array,
    tiles: Array,
    owner: Array,
    partner: Array,
    margins: Array,
    norms: Array,
    kept: Array,
    capacities: Array,
    is_cut: Array,
    values: Array,
    places: Array,
    counts: Array,
    thresholds: Array,
) -> None:
    """Add the products that `list_candidates` found in tiles of some rounds to the lists."""
    lists = values, places, counts, thresholds
    own = np.isin(np.arange(len(counts)) // size, blocks)
    for tiles_of_round, k, capacity, is_last in zip(tiles, kept, capacities, is_cut, strict=True):
        for t in np.unique(tiles_of_round[tiles_of_round >= 0]):
            for e in range(starts[t], starts[t + 1]):
                i, j = rows[t] + found[e] // widths[t], columns[t] + found[e] % widths[t]
                bound = abs(products[e]) + margins[i] * norms[j]
                if own[i]:
                    _keep(i, j, bound * (owner[i] + partner[j]), k, capacity, *lists)
                if own[j]:
                    _keep(j, i, bound * (owner[j] + partner[i]), k, capacity, *lists)
        if is_last:
            for i in np.flatnonzero(own & (counts > k)).tolist():
                _shorten(i, k, *lists)


def _keep(
    i: int,
    j: int,
    bound: float,
    k: int,
    capacity: int,
    values: Array,
    places: Array,
    counts: Array,
    thresholds: Array,
) -> None:
    """Add j to the list of i if its bound is above the threshold."""
    if bound > thresholds[i] and counts[i] >= capacity:
        _shorten(i, k, values, places, counts, thresholds)
    if bound > thresholds[i]:
        values[i, counts[i]], places[i, counts[i]] = bound, j
        counts[i] += 1


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
