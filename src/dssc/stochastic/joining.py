"""New points joined to a doubly stochastic affinity whose column potentials are known.

A new row is what the projection gives one row when all other potentials stay as they are,

    a = argmin_a  -<k - beta, a> + eta2/2 |a|^2   subject to  a >= 0, sum a = 1,

that is ``a_j = [k_j - beta_j - t]_+ / eta2``, the projection onto the simplex. Of a symmetric
affinity the point's own place belongs to the row as well: its similarity is zero and both its
potentials are t, so that it holds ``[-2 t]_+ / eta2``, more than nothing where the point resembles
no other.
"""

from collections.abc import Callable
from itertools import pairwise

import numpy as np

FIRST = 1024  # columns that give a first threshold
FIRST_KEPT = 64  # entries of them it is computed of
TILE = 4096  # columns read at once


def join_rows(
    products: Callable,
    similarity: Callable,
    scale: np.ndarray,
    potentials: np.ndarray,
    eta2: float,
    own: bool,
):
    """Return the positive entries of new rows: (rows, columns, values), in order of the rows.

    Parameters
    ----------
    products : callable
        Takes a slice of columns, returns an array with a row for every new one.
    similarity : callable
        Takes rows, columns and their products, returns the similarities.
    scale : ndarray of shape (n_columns,)
        A similarity is at most the product times this.
    potentials : ndarray of shape (n_columns,)
        The columns' potentials.
    eta2 : float
        Regularisation of the affinity.
    own : bool
        Whether a row has a place of its own, as said above.

    Notes
    -----
    The threshold t of some of a row's entries is at most that of all of them. So what lies below
    the one of the first columns is zero, and almost no entry needs a second look.
    """
    first = slice(0, min(FIRST, len(potentials)))
    head = products(first)
    n_rows = len(head)
    least = _first_thresholds(head, similarity, scale[first], potentials[first], eta2)
    found = [_above(head, first, scale, potentials, least)]
    for start in range(FIRST, len(potentials), TILE):
        tile = slice(start, min(start + TILE, len(potentials)))
        found.append(_above(products(tile), tile, scale, potentials, least))
    rows, columns, h = (np.concatenate(parts) for parts in zip(*found, strict=True))
    rows, columns, values = _falling(rows, columns, similarity(rows, columns, h), potentials)
    thresholds = simplex_thresholds(rows, values, n_rows, eta2, own)
    entries = values - thresholds[rows]
    kept = np.flatnonzero(entries > 0)
    return rows[kept], columns[kept], entries[kept] / eta2


def _above(h, tile, scale, potentials, least):
    """Return the places of a tile that may be above the rows' thresholds, and their products."""
    slack = h * scale[tile].astype(h.dtype)
    slack -= potentials[tile].astype(h.dtype)
    rows, columns = np.divmod(np.flatnonzero(slack >= least[:, None]), h.shape[1])
    return rows, columns + tile.start, h[rows, columns]


def _falling(rows, columns, similarities, potentials):
    """Return entries less the columns' potentials, by row and in falling order within it."""
    values = similarities - potentials[columns]
    order = np.lexsort((-values, rows))
    return rows[order], columns[order], values[order]


def _first_thresholds(h, similarity, scale, potentials, eta2):
    """Return a lower bound on every row's threshold, from the largest of some columns."""
    slack = h * scale.astype(h.dtype) - potentials.astype(h.dtype)
    n_kept = min(FIRST_KEPT, h.shape[1])
    columns = np.argpartition(slack, h.shape[1] - n_kept, axis=1)[:, -n_kept:].ravel()
    rows = np.repeat(np.arange(len(h)), n_kept)
    similarities = similarity(rows, columns, h[rows, columns])
    rows, _, values = _falling(rows, columns, similarities, potentials)
    t = simplex_thresholds(rows, values, len(h), eta2, own=False)
    return (t - 1e-5 * np.abs(t)).astype(h.dtype)


def simplex_thresholds(rows, values, n_rows: int, eta2: float, own: bool) -> np.ndarray:
    """Return the t of every row with ``sum_j [values_j - t]_+ (+ [-2 t]_+ if own) = eta2``.

    `rows` comes sorted, and `values` in falling order within a row.
    """
    starts = np.searchsorted(rows, np.arange(n_rows + 1))
    rank = np.arange(1, len(rows) + 1) - starts[rows]
    # Sums restart at every row, so that no row's digits are lost in those before it.
    sums = np.empty(len(values))
    for begin, end in pairwise(starts):
        np.cumsum(values[begin:end], out=sums[begin:end])
    t = _last_candidate(rows, values, (sums - eta2) / rank, n_rows)
    if own:
        low = t < 0
        candidates = (sums - eta2) / (rank + 2)
        t = np.where(low, _last_candidate(rows, values, candidates, n_rows, -eta2 / 2), t)
    return t


def _last_candidate(rows, values, candidates, n_rows, otherwise=0.0):
    """Return for every row its last candidate that is below its value."""
    t = np.full(n_rows, otherwise)
    below = np.flatnonzero(values > candidates)
    t[rows[below]] = candidates[below]  # of repeated rows the last one stays
    return t
