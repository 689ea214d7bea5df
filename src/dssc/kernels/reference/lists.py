"""Lists of every point's largest similarities, read as a graph."""

from itertools import pairwise
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

    A pair whose bound is above both limits is counted in the list of its first point only.
    """
    out[:] = _wanted(values, places, counts, limits, own, others).sum(axis=1)


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
    """Write the pairs that `count_listed_above` counts, list by list."""
    at = np.nonzero(_wanted(values, places, counts, limits, own, others))
    rows[:], columns[:] = at[0], places[at]


def _wanted(
    values: Array, places: Array, counts: Array, limits: Array, own: Array, others: Array
) -> Array:
    held = np.arange(values.shape[1]) < counts[:, None]
    places = np.where(held, places, 0)
    first = (np.arange(len(counts))[:, None] < places) | (values <= limits[places])
    return held & first & (values > own[:, None] + others[places])


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


def mark_held(indptr: Array, indices: Array, rows: Array, columns: Array, out: Array) -> None:
    """Mark the places (row, column) at which a CSR matrix with sorted rows has an entry."""
    held = set(zip(entry_rows(indptr), indices, strict=True))
    out[:] = [place in held for place in zip(rows, columns, strict=True)]


def find_sorted(keys: Array, wanted: Array, out: Array) -> None:
    """Write the position of the first of the sorted keys that is not below each wanted number."""
    out[:] = np.searchsorted(keys, wanted)


def group_by_row(rows: Array, columns: Array, ends: Array, out: Array) -> None:
    """Write the columns of every row from position ``ends[i]`` on."""
    out[:] = columns[np.argsort(rows, kind="stable")]
    ends += np.bincount(rows, minlength=len(ends))


def sort_rows(indptr: Array, columns: Array, counts: Array) -> None:
    """Sort every row, move its distinct numbers to the front and count them."""
    for i, (start, stop) in enumerate(pairwise(indptr)):
        distinct = np.unique(columns[start:stop])
        columns[start : start + len(distinct)], counts[i] = distinct, len(distinct)


def pack_rows(indptr: Array, columns: Array, starts: Array, out: Array) -> None:
    """Write the first ``starts[i + 1] - starts[i]`` numbers of every row one after the other."""
    for begin, (start, stop) in zip(indptr[:-1], pairwise(starts), strict=True):
        out[start:stop] = columns[begin : begin + stop - start]
