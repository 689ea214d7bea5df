"""The kernels in plain NumPy: slow, obvious, and the oracle of every other engine."""

from itertools import pairwise

import numpy as np


def slacks(indptr, indices, values, w, out):
    """Write ``values[i, j] - w[i] - w[j]`` for every stored entry."""
    out[:] = values - (w[_rows(indptr)] + w[indices])


def row_sums(indptr, indices, values, w, sums, squares, counts):
    """Write the sum, the sum of squares and the number of the positive slacks of every row."""
    slack = np.empty_like(values)
    slacks(indptr, indices, values, w, slack)
    rows = _rows(indptr)
    sums[:] = np.bincount(rows, np.maximum(slack, 0.0), minlength=len(w))
    squares[:] = np.bincount(rows, np.maximum(slack, 0.0) ** 2, minlength=len(w))
    counts[:] = np.bincount(rows, slack > 0, minlength=len(w))


def row_thresholds(indptr, indices, values, w, targets, out):
    """Write for every row the t at which ``sum_j [values[i, j] - w[j] - t]_+ = targets[i]``."""
    for i in range(len(w)):
        row = slice(indptr[i], indptr[i + 1])
        entries = np.sort(values[row] - w[indices[row]])[::-1]
        candidates = (np.cumsum(entries) - targets[i]) / np.arange(1, len(entries) + 1)
        out[i] = candidates[np.flatnonzero(entries > candidates)[-1]]


def active_pattern(indptr, indices, values, w, active_indptr, active_indices):
    """Write the columns of the positive slacks; `active_indptr` holds their offsets already."""
    slack = np.empty_like(values)
    slacks(indptr, indices, values, w, slack)
    active_indices[: active_indptr[-1]] = indices[slack > 0]


def solve_pattern(indptr, indices, diagonal, rhs, tol, max_iter, x):
    """Solve ``(diag(diagonal) + S) x = rhs`` by conjugate gradients, S the pattern of ones.

    Starts at zero, preconditions by the diagonal, and stops at a residual of `tol` relative to
    `rhs` in the preconditioner's norm. Returns the relative residual reached and the steps taken.
    """
    rows = _rows(indptr)
    x[:] = 0.0
    residual = rhs.copy()
    z = residual / diagonal
    direction = z.copy()
    rho = rho_start = residual @ z
    step = 0
    while step < max_iter and rho > tol * tol * rho_start:
        step += 1
        product = diagonal * direction
        product += np.bincount(rows, direction[indices], minlength=len(x))
        curvature = direction @ product
        if not curvature > 0.0:
            break
        length = rho / curvature
        x += length * direction
        residual -= length * product
        z = residual / diagonal
        rho_next = residual @ z
        direction = z + (rho_next / rho) * direction
        rho = rho_next
    return (np.sqrt(rho / rho_start) if rho_start > 0.0 else 0.0), step


def top_k(K, k, values, indices):
    """Write the `k` largest entries of every row of K, in no particular order."""
    indices[:] = np.argsort(-K, axis=1, kind="stable")[:, :k]
    values[:] = np.take_along_axis(K, indices.astype(np.intp), axis=1)


def top_k_columns(K, k, values, indices):
    """Write the `k` largest entries of every column of K, in no particular order."""
    top_k(K.T, k, values, indices)


def keep_largest(
    tile, row, column, owner, partner, margins, norms, k, room, values, places, counts, thresholds
):
    """Offer the products of a tile, its corner at (`row`, `column`), to their rows and columns.

    A list of `room` candidates is cut to its k best.
    """
    height, width = tile.shape
    for i in range(row, row + height):
        for j in range(max(column, i + 1) if row == column else column, column + width):
            size = abs(tile[i - row, j - column]) + margins[i] * norms[j]
            for one, other in ((i, j), (j, i)):
                bound = size * (owner[one] + partner[other])
                if bound > thresholds[one] and counts[one] >= room:
                    _shorten(one, k, values, places, counts, thresholds)
                if bound > thresholds[one]:
                    values[one, counts[one]] = bound
                    places[one, counts[one]] = other
                    counts[one] += 1


def shorten_lists(k, values, places, counts, thresholds):
    """Reduce every list to its k best, and raise its threshold to the least of them."""
    for i in np.flatnonzero(counts > k):
        _shorten(i, k, values, places, counts, thresholds)


def sort_lists(values, places, counts):
    """Sort every list in falling order."""
    for i, count in enumerate(counts):
        order = np.argsort(-values[i, :count], kind="stable")
        values[i, :count], places[i, :count] = values[i, order], places[i, order]


def _shorten(i, k, values, places, counts, thresholds):
    best = np.argsort(-values[i, : counts[i]], kind="stable")[:k]
    values[i, :k], places[i, :k] = values[i, best], places[i, best]
    counts[i] = k
    thresholds[i] = values[i, k - 1]


def paired_products(vectors, rest, rows, columns, out):
    """Write the products of rows of ``vectors + rest`` in float64, one for each pair."""
    exact = vectors.astype(np.float64) + rest
    out[:] = np.sum(exact[rows] * exact[columns], axis=1)


def unit_rows(X, out):
    """Write the rows of X, scaled to unit norm, in float64."""
    out[:] = X
    out /= np.abs(out).max(axis=1)[:, None]
    out /= np.linalg.norm(out, axis=1)[:, None]


def split_rows(exact, places, vectors, rest, norms):
    """Write rows as sums of two float32 numbers to their places, and their norms in order."""
    vectors[places] = exact
    rest[places] = exact - vectors[places]
    norms[:] = np.linalg.norm(exact, axis=1)


def mark_above(tile, owner, partner, margins, norms, alpha, beta, out):
    """Mark the products whose bound is above the sum of the potentials of row and column."""
    size = np.abs(tile) + margins[:, None] * norms
    out[:] = size * (owner[:, None] + partner) > alpha[:, None] + beta


def list_degrees(values, places, counts, limits, degrees):
    """Add to `degrees` how many points each is joined to by the first `counts` of the lists."""
    for i, _, _ in _joined(values, places, counts):
        degrees[i] += 1


def list_graph(values, places, counts, limits, ends, indices, bounds):
    """Write the joined points and bounds of every point from position ``ends[i]`` on."""
    for i, j, bound in _joined(values, places, counts):
        indices[ends[i]], bounds[ends[i]] = j, bound
        ends[i] += 1


def _joined(values, places, counts):
    """Return the points of all pairs joined, both ways, and their bounds."""
    joined = {}
    for i, count in enumerate(counts):
        for j, bound in zip(places[i, :count], values[i, :count], strict=True):
            joined[i, int(j)] = joined[int(j), i] = bound
    return [(i, j, bound) for (i, j), bound in joined.items()]


def count_listed_above(values, places, counts, limits, own, others, out):
    """Count the entries of every list whose bound is above the sum of the two potentials.

    What is above the limit of the other point too is counted for the first of the two only.
    """
    out[:] = _wanted(values, places, counts, limits, own, others).sum(axis=1)


def listed_above(values, places, counts, limits, own, others, starts, rows, columns):
    """Write what `count_listed_above` counts, that of list i from position ``starts[i]`` on."""
    at = np.nonzero(_wanted(values, places, counts, limits, own, others))
    rows[:], columns[:] = at[0], places[at]


def _wanted(values, places, counts, limits, own, others):
    held = np.arange(values.shape[1]) < counts[:, None]
    places = np.where(held, places, 0)
    first = (np.arange(len(counts))[:, None] < places) | (values <= limits[places])
    return held & first & (values > own[:, None] + others[places])


def merge_rows(first, second, indptr, indices, values):
    """Write the union of two CSR matrices with sorted rows that share no entry."""
    rows = np.concatenate([_rows(first[0]), _rows(second[0])])
    columns = np.concatenate([first[1], second[1]])
    order = np.lexsort((columns, rows))
    indices[:] = columns[order]
    values[:] = np.concatenate([first[2], second[2]])[order]


def mark_held(indptr, indices, rows, columns, out):
    """Mark the places that a CSR matrix with sorted rows holds."""
    held = set(zip(_rows(indptr), indices, strict=True))
    out[:] = [place in held for place in zip(rows, columns, strict=True)]


def find_sorted(keys, wanted, out):
    """Write where each wanted number stands among sorted keys, or would: one may lie beyond."""
    out[:] = np.searchsorted(keys, wanted)


def group_by_row(rows, columns, ends, out):
    """Write the columns of every row from position ``ends[i]`` on."""
    out[:] = columns[np.argsort(rows, kind="stable")]
    ends += np.bincount(rows, minlength=len(ends))


def sort_rows(indptr, columns, counts):
    """Sort every row and move each of its numbers to the front once; count them."""
    for i, (start, stop) in enumerate(pairwise(indptr)):
        found = np.unique(columns[start:stop])
        columns[start : start + len(found)], counts[i] = found, len(found)


def pack_rows(indptr, columns, starts, out):
    """Write the first numbers of every row one after the other, as many as `starts` has room."""
    for begin, (start, stop) in zip(indptr[:-1], pairwise(starts), strict=True):
        out[start:stop] = columns[begin : begin + stop - start]


def chebyshev_step(indptr, indices, data, x, y, scale, shift, weight, out):
    """Write ``scale (A x - shift x) - weight y`` for a CSR matrix A and blocks of vectors x, y."""
    for i in range(len(x)):
        at = slice(indptr[i], indptr[i + 1])
        out[i] = scale * (data[at] @ x[indices[at]] - shift * x[i]) - weight * y[i]


def sparse_product(indptr, indices, data, x, out):
    """Write ``A x`` for a CSR matrix A and one vector x."""
    out[:] = np.bincount(_rows(indptr), data * x[indices], minlength=len(out))


def filter_and_fold(transforms, filters, factor, out):
    """Write each transform times each filter, summed over frequencies that fold onto one.

    The last axis holds real and imaginary parts in turn, filters having each weight twice. With
    weights divided by ``factor**2``, the inverse transform of `out` is the filtered image at every
    factor-th pixel.
    """
    n, height, width = transforms.shape
    product = transforms[:, None] * filters[None]
    blocks = (n, len(filters), factor, height // factor, factor, width // factor)
    out[:] = product.reshape(blocks).sum(axis=(2, 4))


def _rows(indptr):
    return np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
