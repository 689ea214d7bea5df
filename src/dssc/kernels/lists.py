"""Lists of every point's largest similarities, read as a graph.

The list of a point holds other points and upper bounds on their similarity, in descending order.
It holds every point whose bound is above the list's limit, and may hold points whose bound equals
the limit. Two points are joined when at least one of them lists the other. The bound of a pair is
the same number in both lists.
"""

from dssc._typing import Array
from dssc.kernels.compiling import leaf


@leaf
def _holds(point: int, bound: float, limit: float, places: Array) -> bool:
    """Return whether the list with this limit and these places holds a point with this bound."""
    if bound != limit:
        return bound > limit
    is_held = False
    for place in places:  # np.any is slow to compile
        is_held |= place == point
    return is_held


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
def listed_above(
    first: int,
    values: Array,
    places: Array,
    counts: Array,
    limits: Array,
    own: Array,
    others: Array,
    rows: Array,
    columns: Array,
) -> int:
    """Write the entries of lists whose bound is above the sum of the two potentials.

    The lists are those of the points from `first` on, with the potentials `own`; `limits` and
    `others` are those of all points. A pair whose bound is above both limits is in both lists. It
    is written for the list of its first point only. Returns how many there are.
    """
    count = 0
    for r in range(len(counts)):
        i = first + r
        for e in range(counts[r]):
            j, bound = places[r, e], values[r, e]
            if bound > own[r] + others[j] and (i < j or bound <= limits[j]):
                rows[count] = i
                columns[count] = j
                count += 1
    return count


@leaf
def find_pairs(keys: Array, starts: Array, rows: Array, columns: Array, places: Array) -> None:
    """Write where each pair of points is among sorted keys, or -1.

    The key of a pair (i, j) of n points is ``min(i, j) * n + max(i, j)``, and those of the smaller
    point i are in ``keys[starts[i]:starts[i + 1]]``.
    """
    n = len(starts) - 1
    for e in range(len(rows)):
        smaller, larger = min(rows[e], columns[e]), max(rows[e], columns[e])
        key = smaller * n + larger
        first, end = starts[smaller], starts[smaller + 1]
        last = end
        while first < last:
            middle = (first + last) // 2
            if keys[middle] < key:
                first = middle + 1
            else:
                last = middle
        places[e] = first if first < end and keys[first] == key else -1


@leaf
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
    for i in range(len(indptr) - 1):
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


@leaf
def group_by_row(rows: Array, columns: Array, ends: Array, out: Array) -> None:
    """Write the columns of every row from position ``ends[i]`` on.

    `ends` is moved behind the entries that were written.
    """
    for e in range(len(rows)):
        out[ends[rows[e]]] = columns[e]
        ends[rows[e]] += 1
