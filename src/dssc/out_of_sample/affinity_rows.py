"""Rows of a doubly stochastic affinity for new points, with the columns' potentials known.

A new row is what the projection gives one row when all other potentials stay as they are,

    a = argmin_a  -<k - beta, a> + eta2/2 |a|^2   subject to  a >= 0, sum a = 1,

that is ``a_j = [k_j - beta_j - t]_+ / eta2``, the projection onto the simplex. A column of weight
p_j counts as p_j equal ones: ``a_j = p_j [k_j - beta_j - t]_+ / eta2`` is their sum. In a symmetric
affinity the row has an entry for the point itself as well. Its similarity is zero and both of its
potentials are t, so it holds ``[-2 t]_+ / eta2``, which is positive where the point resembles no
other.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np

from dssc._typing import Array

# Columns that give a first threshold.
FIRST_COLUMNS = 1024
# Entries of these columns that the first threshold is computed from.
FIRST_KEPT = 64
# Columns that are read at once.
TILE = 4096

# Takes a slice of columns, returns an array with one row per new point.
Products: TypeAlias = Callable[[slice], Array]
# Takes rows, columns and their products, returns the similarities.
Similarities: TypeAlias = Callable[[Array, Array, Array], Array]


class AffinityRows(NamedTuple):
    """Positive entries of new rows, in order of the rows.

    Attributes
    ----------
    rows, columns, values : ndarray of shape (n_entries,)
        The entries.
    potentials : ndarray of shape (n_rows,)
        The potential t of every row.
    """

    rows: Array
    columns: Array
    values: Array
    potentials: Array


def affinity_rows(
    products: Products,
    similarity: Similarities,
    scale: Array,
    potentials: Array,
    eta2: float,
    with_self: bool,
    weights: Array | None = None,
) -> AffinityRows:
    """Return the positive entries of new rows, and their potentials.

    Parameters
    ----------
    products : callable
        Takes a slice of columns, returns an array with one row per new point.
    similarity : callable
        Takes rows, columns and their products, returns the similarities.
    scale : ndarray of shape (n_columns,)
        A similarity is at most the product times this.
    potentials : ndarray of shape (n_columns,)
        Potentials of the columns.
    eta2 : float
        Regularisation of the affinity.
    with_self : bool
        Whether a row has an entry for the point itself, as in a symmetric affinity.
    weights : ndarray of shape (n_columns,), optional
        Weights of the columns.

    Notes
    -----
    The threshold t from some of a row's entries is at most that from all of them. So entries below
    the threshold of the first columns are zero, and almost no entry needs a second look.
    """
    first = slice(0, min(FIRST_COLUMNS, len(potentials)))
    head = products(first)
    n_rows = len(head)
    least = _first_thresholds(
        head,
        similarity,
        scale[first],
        potentials[first],
        eta2,
        None if weights is None else weights[first],
    )
    candidates = [_above(head, first, scale, potentials, least)]
    for start in range(FIRST_COLUMNS, len(potentials), TILE):
        tile = slice(start, min(start + TILE, len(potentials)))
        candidates.append(_above(products(tile), tile, scale, potentials, least))
    rows, columns, h = (np.concatenate(parts) for parts in zip(*candidates, strict=True))
    similarities = similarity(rows, columns, h)
    return sparse_affinity_rows(
        rows, columns, similarities, n_rows, potentials, eta2, with_self, weights
    )


def sparse_affinity_rows(
    rows: Array,
    columns: Array,
    similarities: Array,
    n_rows: int,
    potentials: Array,
    eta2: float,
    with_self: bool,
    weights: Array | None = None,
) -> AffinityRows:
    """Return new rows that may be positive at given places only; see `affinity_rows`."""
    rows, columns, values = _sorted_rows(rows, columns, similarities, potentials)
    of_entries = None if weights is None else weights[columns]
    thresholds = simplex_thresholds(rows, values, n_rows, eta2, with_self, of_entries)
    entries = values - thresholds[rows]
    kept = np.flatnonzero(entries > 0)
    if of_entries is not None:
        entries *= of_entries
    return AffinityRows(rows[kept], columns[kept], entries[kept] / eta2, thresholds)


def _above(
    h: Array, tile: slice, scale: Array, potentials: Array, least: Array
) -> tuple[Array, Array, Array]:
    """Return the places of a tile that may be above the rows' thresholds, and their products."""
    slack = h * scale[tile].astype(h.dtype)
    slack -= potentials[tile].astype(h.dtype)
    rows, columns = np.divmod(np.flatnonzero(slack >= least[:, None]), h.shape[1])
    return rows, columns + tile.start, h[rows, columns]


def _sorted_rows(
    rows: Array, columns: Array, similarities: Array, potentials: Array
) -> tuple[Array, Array, Array]:
    """Return entries less the columns' potentials, by row and in falling order within it."""
    values = similarities - potentials[columns]
    order = np.lexsort((-values, rows))
    return rows[order], columns[order], values[order]


def _first_thresholds(
    h: Array,
    similarity: Similarities,
    scale: Array,
    potentials: Array,
    eta2: float,
    weights: Array | None,
) -> Array:
    """Return a lower bound on every row's threshold, from the largest entries of some columns."""
    slack = h * scale.astype(h.dtype) - potentials.astype(h.dtype)
    n_kept = min(FIRST_KEPT, h.shape[1])
    columns = np.argpartition(slack, h.shape[1] - n_kept, axis=1)[:, -n_kept:].ravel()
    rows = np.repeat(np.arange(len(h)), n_kept)
    similarities = similarity(rows, columns, h[rows, columns])
    rows, columns, values = _sorted_rows(rows, columns, similarities, potentials)
    of_entries = None if weights is None else weights[columns]
    t = simplex_thresholds(rows, values, len(h), eta2, with_self=False, weights=of_entries)
    return (t - 1e-5 * np.abs(t)).astype(h.dtype)


def simplex_thresholds(
    rows: Array,
    values: Array,
    n_rows: int,
    eta2: float,
    with_self: bool,
    weights: Array | None = None,
) -> Array:
    """Return the t of every row with ``sum_j [values_j - t]_+ = eta2``.

    With the entry of the point itself, ``[-2 t]_+`` is added to the sum. With weights, an entry
    counts as often as its weight says. `rows` must be sorted, and `values` in falling order within
    a row.
    """
    starts = np.searchsorted(rows, np.arange(n_rows + 1))
    if weights is None:
        sums, rank = _row_cumsums(values, starts), np.arange(1, len(rows) + 1) - starts[rows]
    else:
        sums, rank = _row_cumsums(weights * values, starts), _row_cumsums(weights, starts)
    t = _last_candidate(rows, values, (sums - eta2) / rank, n_rows)
    if with_self:
        is_low = t <= 0  # a row without entries keeps all of its mass
        candidates = (sums - eta2) / (rank + 2)
        t = np.where(is_low, _last_candidate(rows, values, candidates, n_rows, -eta2 / 2), t)
    return t


def _row_cumsums(values: Array, starts: Array) -> Array:
    """Return cumulative sums that restart at every row, so that no row loses digits to another."""
    sums = np.empty(len(values))
    for begin, end in pairwise(starts):
        np.cumsum(values[begin:end], out=sums[begin:end])
    return sums


def _last_candidate(
    rows: Array, values: Array, candidates: Array, n_rows: int, default: float = 0.0
) -> Array:
    """Return for every row its last candidate that is below its value."""
    t = np.full(n_rows, default)
    below = np.flatnonzero(values > candidates)
    t[rows[below]] = candidates[below]  # of repeated rows the last one stays
    return t
