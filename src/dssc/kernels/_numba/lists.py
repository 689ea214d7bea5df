"""Lists of every point's largest similarities, read as a graph.

A list holds the others in falling order of an upper bound, all above some limit and perhaps some
at it. A pair is joined when either of its points lists the other, and both give it the same bound.
"""

import numpy as np
from numba import prange

from dssc.kernels._numba.compiling import leaf, parallel


@leaf
def _lists(point, bound, limit, places):
    """Tell whether a list holds `point`; it holds all whose bound is above its limit."""
    if bound != limit:
        return bound > limit
    return np.any(places == point)


@leaf
def list_degrees(values, places, counts, limits, degrees):
    """Add to `degrees` how many points each is joined to by the first `counts` of the lists."""
    for i in range(len(counts)):
        degrees[i] += counts[i]
        for e in range(counts[i]):
            j = places[i, e]
            if not _lists(i, values[i, e], limits[j], places[j, : counts[j]]):
                degrees[j] += 1


@leaf
def list_graph(values, places, counts, limits, ends, indices, bounds):
    """Write the joined points and bounds of every point from position ``ends[i]`` on."""
    for i in range(len(counts)):
        for e in range(counts[i]):
            j = places[i, e]
            indices[ends[i]] = j
            bounds[ends[i]] = values[i, e]
            ends[i] += 1
            if not _lists(i, values[i, e], limits[j], places[j, : counts[j]]):
                indices[ends[j]] = i
                bounds[ends[j]] = values[i, e]
                ends[j] += 1


@leaf
def _is_wanted(i, j, bound, limits, own, others):
    return bound > own[i] + others[j] and (i < j or bound <= limits[j])


@parallel
def count_listed_above(values, places, counts, limits, own, others, out):
    """Count the entries of every list whose bound is above the sum of the two potentials.

    What is above the limit of the other point too is counted for the first of the two only.
    """
    for i in prange(len(counts)):
        count = 0
        for e in range(counts[i]):
            if _is_wanted(i, places[i, e], values[i, e], limits, own, others):
                count += 1
        out[i] = count


@parallel
def listed_above(values, places, counts, limits, own, others, starts, rows, columns):
    """Write what `count_listed_above` counts, that of list i from position ``starts[i]`` on."""
    for i in prange(len(counts)):
        at = starts[i]
        for e in range(counts[i]):
            if _is_wanted(i, places[i, e], values[i, e], limits, own, others):
                rows[at] = i
                columns[at] = places[i, e]
                at += 1


@parallel
def merge_rows(first, second, indptr, indices, values):
    """Write the union of two CSR matrices with sorted rows that share no entry.

    `first` and `second` are (indptr, indices, values); `indptr` holds the sum of theirs already.
    """
    for i in prange(len(indptr) - 1):
        a, a_end = first[0][i], first[0][i + 1]
        b, b_end = second[0][i], second[0][i + 1]
        for at in range(indptr[i], indptr[i + 1]):
            if b == b_end or (a < a_end and first[1][a] < second[1][b]):
                indices[at] = first[1][a]
                values[at] = first[2][a]
                a += 1
            else:
                indices[at] = second[1][b]
                values[at] = second[2][b]
                b += 1


@parallel
def mark_held(indptr, indices, rows, columns, out):
    """Mark the places that a CSR matrix with sorted rows holds."""
    for e in prange(len(rows)):
        row = indices[indptr[rows[e]] : indptr[rows[e] + 1]]
        at = np.searchsorted(row, columns[e])
        out[e] = at < len(row) and row[at] == columns[e]


@parallel
def find_sorted(keys, wanted, out):
    """Write where each wanted number stands among sorted keys, or would: one may lie beyond."""
    for e in prange(len(wanted)):
        out[e] = np.searchsorted(keys, wanted[e])


@leaf
def group_by_row(rows, columns, ends, out):
    """Write the columns of every row from position ``ends[i]`` on."""
    for e in range(len(rows)):
        out[ends[rows[e]]] = columns[e]
        ends[rows[e]] += 1


@parallel
def sort_rows(indptr, columns, counts):
    """Sort every row and move each of its numbers to the front once; count them."""
    for i in prange(len(counts)):
        row = columns[indptr[i] : indptr[i + 1]]
        row.sort()
        count = 0
        for e in range(len(row)):
            if count == 0 or row[e] != row[count - 1]:
                row[count] = row[e]
                count += 1
        counts[i] = count


@parallel
def pack_rows(indptr, columns, starts, out):
    """Write the first numbers of every row one after the other, as many as `starts` has room."""
    for i in prange(len(starts) - 1):
        for e in range(starts[i + 1] - starts[i]):
            out[starts[i] + e] = columns[indptr[i] + e]
