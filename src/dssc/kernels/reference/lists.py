"""Lists of every point's largest similarities, read as a graph."""

from typing import Any

import numpy as np

from dssc._typing import Array
from dssc.kernels.reference.csr import entry_rows


def list_degrees(
    values: Array, places: Array, counts: Array, limits: Array, degrees: Array
) -> None:
    """Add to `degrees` how many points each point is joined to."""
    for i, _, _ in _joined(values, places, counts):
        degrees[i] += 1


def list_graph(
    values: Array,
    places: Array,
    counts: Array,
    limits: Array,
    ends: Array,
    indices: Array,
    bounds: Array,
) -> None:
    """Write the points that each point is joined to, and the bounds, from ``ends[i]`` on."""
    for i, j, bound in _joined(values, places, counts):
        indices[ends[i]], bounds[ends[i]] = j, bound
        ends[i] += 1


def _joined(values: Array, places: Array, counts: Array) -> list[tuple[int, int, Any]]:
    """Return all pairs of joined points, in both orders, and their bounds."""
    joined = {}
    for i, count in enumerate(counts):
        for j, bound in zip(places[i, :count], values[i, :count], strict=True):
            joined[i, int(j)] = joined[int(j), i] = bound
    return [(i, j, bound) for (i, j), bound in joined.items()]


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
    """Write the entries of lists whose bound is above the sum of the two potentials."""
    held = np.arange(values.shape[1]) < counts[:, None]
    places = np.where(held, places, 0)
    points = first + np.arange(len(counts))[:, None]
    is_first = (points < places) | (values <= limits[places])
    at = np.nonzero(held & is_first & (values > own[:, None] + others[places]))
    count = len(at[0])
    rows[:count], columns[:count] = points[at[0], 0], places[at]
    return count


def find_pairs(keys: Array, starts: Array, rows: Array, columns: Array, places: Array) -> None:
    """Write where each pair of points is among sorted keys, or -1."""
    wanted = np.minimum(rows, columns) * (len(starts) - 1) + np.maximum(rows, columns)
    at = np.searchsorted(keys, wanted)
    found = at < len(keys)
    found[found] = keys[at[found]] == wanted[found]
    places[:] = np.where(found, at, -1)


def merge_rows(
    first: tuple[Array, Array, Array],
    second: tuple[Array, Array, Array],
    indptr: Array,
    indices: Array,
    values: Array,
) -> None:
    """Write the union of two CSR matrices with sorted rows that share no entry."""
    rows = np.concatenate([entry_rows(first[0]), entry_rows(second[0])])
    columns = np.concatenate([first[1], second[1]])
    order = np.lexsort((columns, rows))
    indices[:] = columns[order]
    values[:] = np.concatenate([first[2], second[2]])[order]


def group_by_row(rows: Array, columns: Array, ends: Array, out: Array) -> None:
    """Write the columns of every row from position ``ends[i]`` on."""
    out[:] = columns[np.argsort(rows, kind="stable")]
    ends += np.bincount(rows, minlength=len(ends))
