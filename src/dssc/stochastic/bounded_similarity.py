"""Similarities with too many entries to hold them all: bounds on what a support leaves out."""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from dssc._progress import Progress
from dssc._typing import Array
from dssc.stochastic.similarity import (
    NO_PLACES,
    NOTHING_MISSING,
    MissingEntries,
    Places,
    Potentials,
    Similarity,
)
from dssc.stochastic.support import Support, distinct

# An entry read from K joins the support if it is above minus this, in units of the entries of A.
MARGIN = 0.05
# The same for entries that are known without reading.
LISTED_MARGIN = 0.01


class Area(NamedTuple):
    """Marked rows and columns of K to read; `wide` says which of the two are wide open."""

    rows: Array
    columns: Array
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
    finds the rows and columns that have any such pair. In each such pair one side is wide open,
    since ``t_i + u_j > 2 (alpha_i + beta_j)``: either ``t_i > 2 (alpha_i + c)`` or
    ``u_j > 2 (beta_j - c)``, for any one c. So only wide open rows are read, at open columns, and
    wide open columns at the remaining open rows.

    Reading uses a margin: entries that are almost positive join the support too, which must take
    in whatever `missing` returns. After the next solve the same places then need no second reading,
    unless a potential fell by the margin.
    """

    # Bounds t and u; None as long as nothing is omitted.
    bounds: tuple[Array, Array] | None = None
    reading: "Reading | None" = None

    def missing(
        self, support: Support, potentials: Potentials, eta2: float, progress: Progress
    ) -> MissingEntries:
        """Read what the bounds and earlier readings leave open."""
        if self.bounds is None:
            return NOTHING_MISSING
        places, reading, n_read = self.read(potentials, eta2)
        rows, columns = support.not_held(*distinct(places, self.shape, self.symmetric))
        values = self.at(rows, columns)
        alpha, beta = potentials
        if not np.any(values > alpha[rows] + beta[columns]):
            return NOTHING_MISSING._replace(n_read=n_read)
        self.reading = reading
        return MissingEntries(rows, columns, values, n_read)

    def read(self, potentials: Potentials, eta2: float) -> tuple[list[Places], "Reading", int]:
        """Return places that may be positive in A, the reading they make, and how much was read."""
        areas = self.open_areas(potentials)
        lowered = lowered_by(MARGIN * eta2, potentials)
        reading = Reading(areas, lowered)
        unread = areas
        if self.reading and self.reading.holds_at(potentials):
            unread = self.reading.unread(areas)
            reading = reading.after(self.reading)
        listed = self.listed_above(lowered_by(LISTED_MARGIN * eta2, potentials))
        read = [places for area in unread for places in self.area_above(area, lowered)]
        n_read = sum(area.n_wide() for area in unread)
        return [(NO_PLACES, NO_PLACES), *listed, *read], reading, n_read

    def open_areas(self, potentials: Potentials) -> list[Area]:
        """Return the areas to read: those of wide open rows, then those of wide open columns."""
        assert self.bounds is not None
        alpha, beta = potentials
        t, u = self.bounds
        rows = _has_open_pair(t, alpha, u, beta)
        if self.symmetric:
            return [Area(rows & (t > 2 * alpha), rows, "rows")]
        columns = _has_open_pair(u, beta, t, alpha)
        row_need, column_need = t / 2 - alpha, u / 2 - beta
        c = 0.0
        if rows.any():  # and so are some columns
            c = (np.median(row_need[rows]) - np.median(column_need[columns])) / 2
        wide = rows & (row_need > c)
        wide_columns = columns & (column_need > -c)
        return [Area(wide, columns, "rows"), Area(rows & ~wide, wide_columns, "columns")]

    def listed_above(self, potentials: Potentials) -> list[Places]:
        """Return places known without reading that may be above the sum of the potentials."""
        return []

    @abstractmethod
    def area_above(self, area: Area, potentials: Potentials) -> Iterator[Places]:
        """Yield the places in an area that may be above the sum of the potentials."""


def lowered_by(margin: float, potentials: Potentials) -> Potentials:
    """Return potentials whose sums are lower by a margin."""
    alpha, beta = potentials
    return alpha - margin / 2, beta - margin / 2


@dataclass(frozen=True)
class Reading:
    """Areas of K whose entries above the sum of some potentials are all in the support."""

    areas: list[Area]
    potentials: Potentials

    def holds_at(self, potentials: Potentials) -> bool:
        """Return whether no potential has fallen below those of the reading."""
        pairs = zip(potentials, self.potentials, strict=True)
        return all(np.all(now >= then) for now, then in pairs)

    def after(self, earlier: "Reading") -> "Reading":
        """Return this reading, given that the areas of an earlier one were not read again."""
        (alpha, beta), (earlier_alpha, earlier_beta) = self.potentials, earlier.potentials
        raised = np.maximum(alpha, earlier_alpha), np.maximum(beta, earlier_beta)
        return Reading(self.areas, raised)

    def unread(self, areas: list[Area]) -> list[Area]:
        """Return what the areas hold beyond those of this reading, each part once."""
        return [
            part
            for new, old in zip(areas, self.areas, strict=True)
            for part in (
                new._replace(rows=new.rows & ~old.rows),
                Area(new.rows & old.rows, new.columns & ~old.columns, new.wide),
            )
        ]


def _has_open_pair(
    bounds: Array, potentials: Array, other_bounds: Array, other_potentials: Array
) -> Array:
    """Return which i have a j with ``min(bounds_i, other_bounds_j)`` above their potentials."""
    order = np.argsort(other_potentials)
    highest = np.maximum.accumulate((other_bounds - other_potentials)[order])
    n_below = np.searchsorted(other_potentials[order], bounds - potentials)
    return (n_below > 0) & (highest[n_below - 1] > potentials)
