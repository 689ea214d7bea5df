"""Similarities with too many entries to hold them all in a support."""

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Literal, NamedTuple

import numpy as np
from scipy import sparse

from dssc.stochastic.similarity import NOTHING, NOWHERE, Missing, Places, Similarity, filled
from dssc.stochastic.support import Support, distinct, pattern_at

# Below this size a dense K is its own support: selecting entries would cost more than it saves.
SMALL = 256
FIRST_NEIGHBORS = 64
BLOCK = 1 << 22  # entries read at once
# In units of the entries of A: for what is read, and for what is looked up at no cost anyway.
MARGIN, LISTED_MARGIN = 0.05, 0.01
NO_PLACES = NOWHERE, NOWHERE


class Area(NamedTuple):
    """Marked rows and columns of K, of which either the rows or the columns are wide open."""

    rows: np.ndarray
    columns: np.ndarray
    wide: Literal["rows", "columns"]

    def n_wide(self) -> int:
        """Return how many rows or columns are read."""
        if not (self.rows.any() and self.columns.any()):
            return 0
        return int(np.count_nonzero(self.rows if self.wide == "rows" else self.columns))


class BoundedSimilarity(Similarity):
    """A similarity of which the solver sees the largest entries of every row and column.

    With t_i an upper bound on the entries omitted from row i and u_j on those from column j, an
    omitted entry can be positive in A only where ``min(t_i, u_j) > alpha_i + beta_j``. Sorting
    finds the rows and columns that have any such pair. Of each such pair one is wide open, since
    ``t_i + u_j > 2 (alpha_i + beta_j)``: either ``t_i > 2 (alpha_i + c)`` or
    ``u_j > 2 (beta_j - c)``, for any one c. So only wide open rows are read, at open columns, and
    the other way round.

    Reading goes by a margin: entries that are almost positive join the support too, which must take
    in whatever `missing` returns. After the next solve the same places then need no second reading,
    unless a potential fell by the margin.
    """

    bounds: tuple[np.ndarray, np.ndarray] | None = None  # None: nothing is omitted
    _reading: "Reading | None" = None

    def missing(self, support, potentials, eta2) -> Missing:
        """Read what the bounds and earlier readings leave open."""
        if self.bounds is None:
            return NOTHING
        places, reading, n_read = self._read(potentials, eta2)
        rows, columns = support.not_held(*distinct(places, self.shape, self.symmetric))
        values = self.at(rows, columns)
        alpha, beta = potentials
        if not np.any(values > alpha[rows] + beta[columns]):
            return NOTHING._replace(n_read=n_read)
        self._reading = reading
        return Missing(rows, columns, values, n_read)

    def _read(self, potentials, eta2):
        """Return places that may be positive in A, the reading they make, and how much was read."""
        areas = self._open_areas(potentials)
        lowered = lowered_by(MARGIN * eta2, potentials)
        reading = Reading(areas, lowered)
        fresh = areas
        if self._reading and self._reading.holds_at(potentials):
            fresh = self._reading.unread(areas)
            reading = reading.after(self._reading)
        found = [NO_PLACES, *self._listed(lowered_by(LISTED_MARGIN * eta2, potentials))]
        found += [places for area in fresh for places in self._above(area, lowered)]
        return found, reading, sum(area.n_wide() for area in fresh)

    def _open_areas(self, potentials) -> list[Area]:
        """Return the rows and columns to be read: wide open rows, then wide open columns."""
        assert self.bounds is not None
        alpha, beta = potentials
        t, u = self.bounds
        rows = _has_pair(t, alpha, u, beta)
        if self.symmetric:
            return [Area(rows & (t > 2 * alpha), rows, "rows")]
        columns = _has_pair(u, beta, t, alpha)
        row_need, column_need = t / 2 - alpha, u / 2 - beta
        c = 0.0
        if rows.any():  # and so are some columns
            c = (np.median(row_need[rows]) - np.median(column_need[columns])) / 2
        wide = rows & (row_need > c)
        wide_columns = columns & (column_need > -c)
        return [Area(wide, columns, "rows"), Area(rows & ~wide, wide_columns, "columns")]

    def _listed(self, potentials) -> list[Places]:
        """Return places known without reading that may be above the sum of the potentials."""
        return []

    @abstractmethod
    def _above(self, area: Area, potentials) -> list[Places]:
        """Return the places in an area that may be above the sum of the potentials."""


def lowered_by(margin, potentials):
    """Return potentials whose sums are lower by a margin."""
    return tuple(p - margin / 2 for p in potentials)


@dataclass(frozen=True)
class Reading:
    """Areas of K whose entries above the sum of some potentials are all in the support."""

    areas: list[Area]
    potentials: tuple[np.ndarray, ...]

    def holds_at(self, potentials) -> bool:
        """Return whether no potential has fallen below those read with."""
        pairs = zip(potentials, self.potentials, strict=True)
        return all(np.all(now >= then) for now, then in pairs)

    def after(self, earlier: "Reading") -> "Reading":
        """Return this reading, when what an earlier one holds was not read again."""
        pairs = zip(self.potentials, earlier.potentials, strict=True)
        return Reading(self.areas, tuple(np.maximum(now, then) for now, then in pairs))

    def unread(self, areas) -> list[Area]:
        """Return what the areas hold beyond the ones read, each part once."""
        parts = []
        for new, old in zip(areas, self.areas, strict=True):
            parts.append(new._replace(rows=new.rows & ~old.rows))
            parts.append(Area(new.rows & old.rows, new.columns & ~old.columns, new.wide))
        return parts


class DenseSimilarity(BoundedSimilarity):
    """A dense K."""

    def __init__(self, K: np.ndarray, k: ModuleType):
        self.K = np.ascontiguousarray(K)
        self.shape = K.shape
        self.k = k
        self.symmetric = _is_symmetric(self.K)

    @cached_property
    def largest(self) -> float:
        """The largest absolute value of an entry."""
        return max(float(self.K.max()), -float(self.K.min()))

    def first_support(self, eta2: float, feasible: Places) -> Support:
        """Return the largest entries of each row and column, and the feasible ones."""
        n_kept = FIRST_NEIGHBORS
        while min(self.shape) > SMALL and 3 * n_kept < min(self.shape):
            values, columns = self._top(self.k.top_k, self.shape[0], n_kept)
            bounds = values.min(axis=1)
            # A row whose kept entries lie too close together to hold its mass needs more of them.
            if np.mean((values - bounds[:, None]).sum(axis=1) < eta2) <= 0.25:
                return self._support_of(columns, bounds, n_kept, feasible)
            n_kept *= 4
        return filled(sparse.csr_array(np.ones(self.shape, dtype=bool)), self)

    def _support_of(self, columns, bounds, n_kept, feasible):
        pattern = _pattern(columns, self.shape)
        if self.symmetric:
            self.bounds = bounds, bounds
            pattern = pattern + pattern.T
        else:
            values, rows = self._top(self.k.top_k_columns, self.shape[1], n_kept)
            self.bounds = bounds, values.min(axis=1)
            pattern = pattern + _pattern(rows, self.shape[::-1]).T
        return filled(pattern + pattern_at(feasible[0], feasible[1], self.shape), self)

    def _top(self, kernel, length, n_kept):
        values = np.empty((length, n_kept), dtype=self.K.dtype)
        places = np.empty((length, n_kept), dtype=np.int32)
        kernel(self.K, n_kept, values, places)
        return values.astype(np.float64, copy=False), places

    def _above(self, area, potentials):
        alpha, beta = potentials
        columns = np.flatnonzero(area.columns)
        found = []
        for block in _blocks(np.flatnonzero(area.rows), len(columns)):
            sums = alpha[block, None] + beta[columns]
            r, c = np.nonzero(self.K[np.ix_(block, columns)] > sums)
            found.append((block[r], columns[c]))
        return found

    def at(self, rows, columns):
        """Return K's entries in float64."""
        return self.K[rows, columns].astype(np.float64, copy=False)

    def largest_entries(self, count):
        """Return the largest entries of each row, sorted."""
        return -np.sort(-self._top(self.k.top_k, self.shape[0], count)[0], axis=1)


def _has_pair(bounds, potentials, other_bounds, other_potentials):
    """Return which i have a j with ``min(bounds_i, other_bounds_j)`` above their potentials."""
    order = np.argsort(other_potentials)
    highest = np.maximum.accumulate((other_bounds - other_potentials)[order])
    n_below = np.searchsorted(other_potentials[order], bounds - potentials)
    return (n_below > 0) & (highest[n_below - 1] > potentials)


def _is_symmetric(K, tile=512):
    if K.shape[0] != K.shape[1]:
        return False
    return all(
        np.array_equal(K[i : i + tile, j : j + tile], K[j : j + tile, i : i + tile].T)
        for i in range(0, len(K), tile)
        for j in range(i, len(K), tile)
    )


def _pattern(columns, shape):
    n, k = columns.shape
    indptr = np.arange(0, n * k + 1, k)
    return sparse.csr_array((np.ones(n * k, dtype=bool), columns.ravel(), indptr), shape=shape)


def _blocks(rows, width):
    """Cut an array of rows into blocks that read about BLOCK entries."""
    size = max(1, BLOCK // max(1, width))
    return [rows[start : start + size] for start in range(0, len(rows), size)]
