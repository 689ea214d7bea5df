"""The scan over tiles of products that keeps every point's largest similarities.

The similarity of a point i to a point j is at most the bound

    (|h_ij| + margin_i norm_j) (owner_i + partner_j),

where h_ij is their product in a tile, margin_i norm_j bounds its rounding error, and owner and
partner hold one weight per point. Point i keeps a list of candidates j: row i of `values` (the
bounds) and of `places` (the points). A full list is cut to its k largest bounds, and the smallest
of them becomes the list's threshold: later candidates must exceed it.
"""

import numpy as np

from dssc._typing import Array
from dssc.kernels.compiling import counting, leaf, reduction

# Products that are tested together. Most strips hold no candidate.
STRIP = 64
# The numbers with which a strip is counted, in float32.
ZERO, ONE = np.float32(0.0), np.float32(1.0)


@counting
def _count_candidates(
    products: Array,
    owners: Array,
    partners: Array,
    norms: Array,
    thresholds: Array,
    owner: np.float32,
    partner: np.float32,
    margin: np.float32,
    least: np.float32,
) -> np.float32:
    """Count the products of a strip whose bound is above the threshold of their row or column.

    The compiler vectorises a float32 sum over whole slices.
    """
    count = ZERO
    for c in range(len(products)):
        size = abs(products[c]) + margin * norms[c]
        to_row = size * (owner + partners[c])
        to_column = size * (owners[c] + partner)
        count += ONE if (to_row > least) | (to_column > thresholds[c]) else ZERO
    return count


@leaf
def _mark_candidates(
    products: Array,
    owners: Array,
    partners: Array,
    norms: Array,
    thresholds: Array,
    owner: np.float32,
    partner: np.float32,
    margin: np.float32,
    least: np.float32,
    marks: Array,
) -> None:
    """Mark the products that `_count_candidates` counts."""
    for c in range(len(products)):
        size = abs(products[c]) + margin * norms[c]
        to_row = size * (owner + partners[c])
        to_column = size * (owners[c] + partner)
        marks[c] = (to_row > least) | (to_column > thresholds[c])


@leaf
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
    """Add the products of a tile to the lists of their rows and columns.

    The tile's corner is at (`row`, `column`). A list that holds `capacity` candidates is cut to its
    k best. In a tile on the diagonal the lower triangle repeats the upper one and is skipped.
    Threads must work on tiles that share no point.
    """
    height, width = tile.shape
    columns = slice(column, column + width)
    owners, partners, sizes = owner[columns], partner[columns], norms[columns]
    others = thresholds[columns]
    marks = np.empty(STRIP, dtype=np.bool_)
    for r in range(height):
        i = row + r
        first = r + 1 if row == column else 0
        for start in range(first - first % STRIP, width, STRIP):
            at = slice(start, min(width, start + STRIP))
            if _count_candidates(
                tile[r, at], owners[at], partners[at], sizes[at], others[at],
                owner[i], partner[i], margins[i], thresholds[i],
            ) == ZERO:  # fmt: skip
                continue
            _mark_candidates(
                tile[r, at], owners[at], partners[at], sizes[at], others[at],
                owner[i], partner[i], margins[i], thresholds[i], marks,
            )  # fmt: skip
            for c in range(max(start, first), at.stop):
                if marks[c - start]:
                    _offer(
                        i, column + c, tile[r, c], owner, partner, margins, norms, k, capacity,
                        values, places, counts, thresholds,
                    )  # fmt: skip


@leaf
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
    """List the products of a tile whose bound is above the threshold of their row or column.

    The first four vectors belong to the rows of the tile, the next four to its columns. Writes
    places in the flattened tile, in rising order, with their products, and returns their number.
    In a tile on the diagonal the lower triangle is skipped.
    """
    height, width = tile.shape
    marks = np.empty(STRIP, dtype=np.bool_)
    count = 0
    for r in range(height):
        first = r + 1 if is_diagonal else 0
        for start in range(first - first % STRIP, width, STRIP):
            at = slice(start, min(width, start + STRIP))
            strip = (
                tile[r, at], owners[at], partners[at], norms[at], others[at],
                owner[r], partner[r], margins[r], thresholds[r],
            )  # fmt: skip
            if _count_candidates(*strip) == ZERO:
                continue
            _mark_candidates(*strip, marks)
            for c in range(max(start, first), at.stop):
                if marks[c - start]:
                    found[count] = r * width + c
                    products[count] = tile[r, c]
                    count += 1
    return count


@leaf
def _offer(
    i: int,
    j: int,
    product: np.float32,
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
    """Add a product to the lists of both of its points where its bound is above the threshold."""
    size = abs(product) + margins[i] * norms[j]
    to_row = size * (owner[i] + partner[j])
    to_column = size * (owner[j] + partner[i])
    if to_row > thresholds[i]:
        _keep(i, j, to_row, k, capacity, values, places, counts, thresholds)
    if to_column > thresholds[j]:
        _keep(j, i, to_column, k, capacity, values, places, counts, thresholds)


@leaf
def _keep(
    i: int,
    j: int,
    bound: np.float32,
    k: int,
    capacity: int,
    values: Array,
    places: Array,
    counts: Array,
    thresholds: Array,
) -> None:
    if counts[i] >= capacity:
        thresholds[i] = _select(values[i], places[i], counts[i], k)
        counts[i] = k
        if bound <= thresholds[i]:
            return
    values[i, counts[i]] = bound
    places[i, counts[i]] = j
    counts[i] += 1


@leaf
def shorten_lists(k: int, values: Array, places: Array, counts: Array, thresholds: Array) -> None:
    """Cut every longer list to its k best, and raise its threshold to the smallest of them."""
    for i in range(len(counts)):
        if counts[i] > k:
            thresholds[i] = _select(values[i], places[i], counts[i], k)
            counts[i] = k


@leaf
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
    """Add the products that `list_candidates` found in tiles of some rounds to the lists.

    Only the lists of some blocks of `size` points are changed, so threads must work on different
    blocks. All rounds of a block come one after the other, because its lists fit a core's cache.
    Tile t has its corner at (``rows[t]``, ``columns[t]``), not on the diagonal, and its products
    begin at ``starts[t]``. In round r block b meets another one in tile ``tiles[r, b]``, or none if
    this is negative. Lists of that round hold up to ``capacities[r]`` candidates, and are cut to
    ``kept[r]``, at the end of the round where ``is_cut[r]``. They are the same as from the whole
    tiles by `keep_largest` and `shorten_lists` if none of the thresholds with which products were
    found was above the present one.
    """
    for b in blocks:
        points = slice(b * size, min(len(counts), (b + 1) * size))
        for r in range(len(tiles)):
            t = tiles[r, b]
            if t >= 0:
                at = slice(starts[t], starts[t + 1])
                _keep_in_block(
                    rows[t] == points.start, found[at], products[at], rows[t], columns[t],
                    widths[t], owner, partner, margins, norms, kept[r], capacities[r],
                    values, places, counts, thresholds,
                )  # fmt: skip
            if is_cut[r]:
                shorten_lists(
                    kept[r], values[points], places[points], counts[points], thresholds[points]
                )


@leaf
def _keep_in_block(
    are_rows: bool,
    found: Array,
    products: Array,
    row: int,
    column: int,
    width: int,
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
    """Add the products of a tile to the lists of its rows, or to those of its columns."""
    for e in range(len(found)):
        i, j = row + found[e] // width, column + found[e] % width
        bound = abs(products[e]) + margins[i] * norms[j]
        if are_rows:
            bound *= owner[i] + partner[j]
        else:
            bound *= owner[j] + partner[i]
            i, j = j, i
        if bound > thresholds[i]:
            _keep(i, j, bound, k, capacity, values, places, counts, thresholds)


@leaf
def _select(values: Array, places: Array, size: int, k: int) -> np.float32:
    """Move the k largest values to the front and return the smallest of them."""
    low, high = 0, size - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] > pivot:
                i += 1
            while values[j] < pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                places[i], places[j] = places[j], places[i]
                i += 1
                j -= 1
        if k - 1 <= j:
            high = j
        elif k - 1 >= i:
            low = i
        else:
            break
    smallest = values[0]
    for i in range(1, k):
        smallest = min(smallest, values[i])
    return smallest


@reduction
def _product(x: Array, x_rest: Array, y: Array, y_rest: Array) -> float:
    total = 0.0
    for c in range(len(x)):
        total += (np.float64(x[c]) + x_rest[c]) * (np.float64(y[c]) + y_rest[c])
    return total


@leaf
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
    for e in range(len(rows)):
        i, j = rows[e], columns[e]
        out[e] = _product(vectors[i], rest[i], others[j], other_rest[j])


@leaf
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
    for r in range(tile.shape[0]):
        _mark_row(tile[r], owner[r], partner, margins[r], norms, alpha[r], beta, out[r])


@leaf
def _mark_row(
    products: Array,
    owner: np.float32,
    partner: Array,
    margin: np.float32,
    norms: Array,
    alpha: np.float32,
    beta: Array,
    out: Array,
) -> None:
    for c in range(len(products)):
        size = abs(products[c]) + margin * norms[c]
        out[c] = size * (owner + partner[c]) > alpha + beta[c]
