"""Lists of every point's largest similarities, read as a graph.

The list of a point holds other points and upper bounds on their similarity, in descending order.
It holds every point whose bound is above the list's limit, and may hold points whose bound equals
the limit. Two points are joined when at least one of them lists the other. The bound of a pair is
the same number in both lists.
"""

import numpy as np
from numba import prange

from dssc._typing import Array
from dssc.kernels.compiling import leaf, parallel, parallel_in_proportion


@leaf
def _holds(point: int, bound: float, limit: float, places: Array) -> bool:
    """Return whether the list with this limit and these places holds a point with this bound."""
    if bound != limit:
        return bound > limit
    return bool(np.any(places == point))


@leaf
def list_degrees(
    values: Array, places: Array, counts: Array, limits: Array, degrees: Array
) -> None:
    """Add to `degrees` how many points each point is joined to.

    Of list i only the first ``counts[i]`` entries are used.
    """
    for i in range(len(counts)):
        degrees[i] += counts[i]
        for e in range(counts[i]):
            j = places[i, e]
            if not _holds(i, values[i, e], limits[j], places[j, : counts[j]]):
                degrees[j] += 1


@leaf
def list_graph(
    values: Array,
    places: Array,
    counts: Array,
    limits: Array,
    ends: Array,
    indices: Array,
    bounds: Array,
) -> None:
    """Write the points that each point is joined to, and the bounds, from ``ends[i]`` on.

    `ends` is moved behind the entries that were written.
    """
    for i in range(len(counts)):
        for e in range(counts[i]):
            j = places[i, e]
            indices[ends[i]] = j
            bounds[ends[i]] = values[i, e]
            ends[i] += 1
            if not _holds(i, values[i, e], limits[j], places[j, : counts[j]]):
                indices[ends[j]] = i
                bounds[ends[j]] = values[i, e]
                ends[j] += 1


@leaf
def _is_wanted(i: int, j: int, bound: float, limits: Array, own: Array, others: Array) -> bool:
    return bound > own[i] + others[j] and (i < j or bound <= limits[j])


@parallel_in_proportion
def count_listed_above(
    values: Array,
    places: Array,
    counts: Array,
    limits: Array,
    own: Array,
    others: Array,
    out: Array,
) -> None:
    """Count the entries of every list whose bound is above the sum of the two potentials.

    A pair whose bound is above both limits is in both lists. It is counted in the list of its
    first point only.
    """
    for i in prange(len(counts)):
        count = 0
        for e in range(counts[i]):
            count += _is_wanted(i, places[i, e], values[i, e], limits, own, others)
        out[i] = count


@parallel_in_proportion
def listed_above(
    values: Array,
    places: Array,
    counts: Array,
    limits: Array,
    own: Array,
    others: Array,
    starts: Array,
    rows: Array,
    columns: Array,
) -> None:
    """Write the pairs that `count_listed_above` counts, those of list i from ``starts[i]`` on."""
    for i in prange(len(counts)):
        at = starts[i]
        for e in range(counts[i]):
            if _is_wanted(i, places[i, e], values[i, e], limits, own, others):
                rows[at] = i
                columns[at] = places[i, e]
                at += 1


@parallel
def merge_rows(
    first: tuple[Array, Array, Array],
    second: tuple[Array, Array, Array],
    indptr: Array,
    indices: Array,
    values: Array,
) -> None:
    """Write the union of two CSR matrices with sorted rows that share no entry.

    `first` and `second` are (indptr, indices, values). `indptr` is an input: the sum of theirs.
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


@parallel_in_proportion
def mark_held(indptr: Array, indices: Array, rows: Array, columns: Array, out: Array) -> None:
    """Mark the places (row, column) at which a CSR matrix with sorted rows has an entry."""
    for e in prange(len(rows)):
        row = indices[indptr[rows[e]] : indptr[rows[e] + 1]]
        at = np.searchsorted(row, columns[e])
        out[e] = at < len(row) and row[at] == columns[e]


@parallel_in_proportion
def find_sorted(keys: Array, wanted: Array, out: Array) -> None:
    """Write the position of the first of the sorted keys that is not below each wanted number.

    The position is ``len(keys)`` where all keys are below.
    """
    for e in prange(len(wanted)):
        out[e] = np.searchsorted(keys, wanted[e])


@leaf
def group_by_row(rows: Array, columns: Array, ends: Array, out: Array) -> None:
    """Write the columns of every row from position ``ends[i]`` on.

    `ends` is moved behind the entries that were written.
    """
    for e in range(len(rows)):
        out[ends[rows[e]]] = columns[e]
        ends[rows[e]] += 1


@parallel_in_proportion
def sort_rows(indptr: Array, columns: Array, counts: Array) -> None:
    """Sort every row, move its distinct numbers to the front and count them."""
    for i in prange(len(counts)):
        row = columns[indptr[i] : indptr[i + 1]]
        row.sort()
        count = 0
        for e in range(len(row)):
            if count == 0 or row[e] != row[count - 1]:
                row[count] = row[e]
                count += 1
        counts[i] = count


@parallel_in_proportion
def pack_rows(indptr: Array, columns: Array, starts: Array, out: Array) -> None:
    """Write the first ``starts[i + 1] - starts[i]`` numbers of every row one after the other."""
    for i in prange(len(starts) - 1):
        for e in range(starts[i + 1] - starts[i]):
            out[starts[i] + e] = columns[indptr[i] + e]
