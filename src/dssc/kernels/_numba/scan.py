"""The scan over tiles of products that keeps every point's largest similarities.

The similarity of an owner i to a partner j is bounded by

    (|h_ij| + margin_i norm_j) (owner_i + partner_j),

h_ij being their product in a tile and the margin its rounding. An owner holds up to a row of
`values` of candidates; when it is full, all but the k best go and the k-th becomes its threshold.
"""

import numpy as np
from numba import prange

from dssc.kernels._numba.compiling import leaf, parallel, reduction

STRIP = 64  # products that are tried together: most strips hold no candidate

TINY, HUGE = 1e-200, 1e200
_ZERO, _ONE = np.float32(0.0), np.float32(1.0)


@reduction
def _count_candidates(products, owners, partners, norms, thresholds, owner, partner, margin, least):
    """Count the bounds of a strip that are above the threshold of their row or their column.

    A float32 sum over whole slices is what the compiler turns into vector instructions.
    """
    count = _ZERO
    for c in range(len(products)):
        size = abs(products[c]) + margin * norms[c]
        to_row = size * (owner + partners[c])
        to_column = size * (owners[c] + partner)
        count += _ONE if (to_row > least) | (to_column > thresholds[c]) else _ZERO
    return count


@leaf
def _mark_candidates(
    products, owners, partners, norms, thresholds, owner, partner, margin, least, marks
):
    """Mark what `_count_candidates` counts."""
    for c in range(len(products)):
        size = abs(products[c]) + margin * norms[c]
        to_row = size * (owner + partners[c])
        to_column = size * (owners[c] + partner)
        marks[c] = (to_row > least) | (to_column > thresholds[c])


@leaf
def keep_largest(
    tile, row, column, owner, partner, margins, norms, k, room, values, places, counts, thresholds
):
    """Offer the products of a tile, its corner at (`row`, `column`), to their rows and columns.

    A list of `room` candidates is cut to its k best. On the diagonal the lower triangle repeats the
    upper one and is skipped. Threads take tiles that share no point.
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
            ) == _ZERO:  # fmt: skip
                continue
            _mark_candidates(
                tile[r, at], owners[at], partners[at], sizes[at], others[at],
                owner[i], partner[i], margins[i], thresholds[i], marks,
            )  # fmt: skip
            for c in range(max(start, first), at.stop):
                if marks[c - start]:
                    j = column + c
                    size = abs(tile[r, c]) + margins[i] * norms[j]
                    to_row = size * (owner[i] + partner[j])
                    to_column = size * (owner[j] + partner[i])
                    if to_row > thresholds[i]:
                        _keep(i, j, to_row, k, room, values, places, counts, thresholds)
                    if to_column > thresholds[j]:
                        _keep(j, i, to_column, k, room, values, places, counts, thresholds)


@leaf
def _keep(i, j, bound, k, room, values, places, counts, thresholds):
    if counts[i] >= room:
        thresholds[i] = _select(values[i], places[i], counts[i], k)
        counts[i] = k
        if bound <= thresholds[i]:
            return
    values[i, counts[i]] = bound
    places[i, counts[i]] = j
    counts[i] += 1


@parallel
def shorten_lists(k, values, places, counts, thresholds):
    """Reduce every list to its k best, and raise its threshold to the least of them."""
    for i in prange(len(counts)):
        if counts[i] > k:
            thresholds[i] = _select(values[i], places[i], counts[i], k)
            counts[i] = k


@parallel
def sort_lists(values, places, counts):
    """Sort every list in falling order."""
    for i in prange(len(counts)):
        order = np.argsort(-values[i, : counts[i]])
        values[i, : counts[i]] = values[i, : counts[i]][order]
        places[i, : counts[i]] = places[i, : counts[i]][order]


@leaf
def _select(values, places, size, k):
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
def _product(x, x_rest, y, y_rest):
    total = 0.0
    for c in range(len(x)):
        total += (np.float64(x[c]) + x_rest[c]) * (np.float64(y[c]) + y_rest[c])
    return total


@parallel
def paired_products(vectors, rest, rows, columns, out):
    """Write the products of rows of ``vectors + rest`` in float64, one for each pair."""
    for e in prange(len(rows)):
        i, j = rows[e], columns[e]
        out[e] = _product(vectors[i], rest[i], vectors[j], rest[j])


@leaf
def mark_above(tile, owner, partner, margins, norms, alpha, beta, out):
    """Mark the products whose bound is above the sum of the potentials of row and column."""
    for r in range(tile.shape[0]):
        _mark_row(tile[r], owner[r], partner, margins[r], norms, alpha[r], beta, out[r])


@leaf
def _mark_row(products, owner, partner, margin, norms, alpha, beta, out):
    for c in range(len(products)):
        size = abs(products[c]) + margin * norms[c]
        out[c] = size * (owner + partner[c]) > alpha + beta[c]


@leaf
def unit_rows(X, out):
    """Write the rows of X, scaled to unit norm, in float64."""
    for i in range(X.shape[0]):
        _scale(X[i], 1.0, out[i])
        squares = _sum_of_squares(out[i])
        if not TINY < squares < HUGE:  # or they left the range of float64 on the way
            largest = 0.0
            for c in range(X.shape[1]):
                largest = max(largest, abs(out[i, c]))
            for c in range(X.shape[1]):
                out[i, c] /= largest
            squares = _sum_of_squares(out[i])
        _scale(out[i], 1.0 / np.sqrt(squares), out[i])


@leaf
def _scale(x, factor, out):
    for c in range(len(x)):
        out[c] = factor * x[c]


@reduction
def _sum_of_squares(x):
    total = 0.0
    for c in range(len(x)):
        total += x[c] * x[c]
    return total


@leaf
def split_rows(exact, places, vectors, rest, norms):
    """Write rows as sums of two float32 numbers to their places, and their norms in order."""
    for i in range(len(exact)):
        norms[i] = np.sqrt(_sum_of_squares(exact[i]))
        _split(exact[i], vectors[places[i]], rest[places[i]])


@leaf
def _split(exact, rounded, rest):
    for c in range(len(exact)):
        rounded[c] = exact[c]
        rest[c] = exact[c] - rounded[c]
