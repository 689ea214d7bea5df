"""Panels of pairs that are read again after the search, here or on other machines."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from dssc import kernels
from dssc._threads import block_threads
from dssc._typing import Array
from dssc.stochastic.similarity import Places

# Rows and columns of a panel.
PANEL_ROWS, PANEL_COLUMNS = 4096, 512
# The columns of a panel lie within this many places, so that other machines need few chunks.
SPAN = 8192


class Side(NamedTuple):
    """Some points as the rows or the columns of a panel.

    Attributes
    ----------
    places : ndarray of shape (n_points,)
        Where their vectors are.
    scales, margins, potentials : ndarray of shape (n_points,), float32
        What turns products into bounds, and what these must exceed: a bound is
        ``(|h_ij| + margins_i margins_j) (scales_i + scales_j)``.
    """

    places: Array
    scales: Array
    margins: Array
    potentials: Array

    def first(self, count: int) -> "Side":
        """Return the first points."""
        return Side(*(array[:count] for array in self))


class Panels(NamedTuple):
    """What is to be read: every panel has some of the rows, and some of the columns.

    Attributes
    ----------
    rows, columns : list of Side
        The points.
    n_rows : ndarray of shape (len(rows), len(columns))
        How many of the rows of a panel may have a pair above, the first ones.
    signed : bool
        Whether products below zero count as zero.
    """

    rows: list[Side]
    columns: list[Side]
    n_rows: Array
    signed: bool


# What `read_panels` is: yields pairs that may be above, as places, from vectors and panels.
Reader = Callable[[Any, Panels], Iterator[Places]]


def read_panels(vectors: Array, panels: Panels) -> Iterator[Places]:
    """Yield the pairs that may be above the sum of their potentials, on the threads here."""
    for rows, n_rows in zip(panels.rows, panels.n_rows, strict=True):
        left = vectors[rows.places]

        def read(columns: Side, count: int, rows: Side = rows, left: Array = left) -> Places:
            right = vectors[columns.places]
            return pairs_above(left[:count], rows.first(count), right, columns, panels.signed)

        with block_threads(kernels.n_threads()) as in_threads:
            yield from in_threads(read, panels.columns, n_rows)


def pairs_above(left: Array, rows: Side, right: Array, columns: Side, signed: bool) -> Places:
    """Return the pairs of one panel that may be above, from the vectors of its two sides."""
    tile = left @ right.T
    if signed:
        np.maximum(tile, 0.0, out=tile)
    marks = np.empty(tile.shape, dtype=bool)
    kernels.mark_above(
        tile,
        rows.scales,
        columns.scales,
        rows.margins,
        columns.margins,
        rows.potentials,
        columns.potentials,
        marks,
    )
    at = np.divmod(np.flatnonzero(marks), len(columns.places))
    return rows.places[at[0]], columns.places[at[1]]
