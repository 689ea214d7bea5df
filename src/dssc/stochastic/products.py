"""Similarities that are products of short vectors, searched without ever holding them all."""

from types import ModuleType
from typing import Protocol

import numpy as np
from sklearn.utils import gen_batches

from dssc._progress import Progress
from dssc.stochastic.bounded import BoundedSimilarity
from dssc.stochastic.scan import Lists, Weights, largest_similarities
from dssc.stochastic.similarity import Places, check_fits, filled
from dssc.stochastic.support import Support, pattern_at

# What is kept of a row, and what of it is used at first: in units of what is likely needed, at
# least, and at most beyond that.
KEPT = 5.0, 64, 128
USED = 1.5, 24, 32
BATCH = 1 << 15
SAMPLE = 32  # points of which all similarities are looked at to see how many are needed
PANEL = 512, 8192  # rows and columns that are read at once after a solve
LOWER = 2.0**-20  # more than the rounding of a potential, or of a sum of two, to float32


class Factor(Protocol):
    """Vectors whose products make the similarities; see `dssc.expression.LeastSquaresFactor`."""

    order: np.ndarray
    vectors: np.ndarray
    norms: np.ndarray
    scales: np.ndarray
    rounding: float

    def products(self, rows, columns) -> np.ndarray:
        """Return the products at the places given, in float64."""


class ProductSimilarity(BoundedSimilarity):
    """``K_ij = |h_ij| s_i``, h_ij a product of two vectors, or its symmetric part; K_ii = 0.

    Products are searched in float32, by upper bounds that include their rounding, and those worth
    keeping are computed anew in float64. So the solver's problem is exact and so is the proof that
    nothing was missed.
    """

    def __init__(
        self, factor: Factor, symmetric: bool, k: ModuleType, progress: Progress | None = None
    ):
        n = len(factor.norms)
        self.factor = factor
        self.shape = n, n
        self.symmetric = symmetric
        self.k = k
        self.progress = progress or Progress()
        half = factor.scales / 2
        self.owner = half if symmetric else factor.scales
        self.partner = half if symmetric else np.zeros(n)
        kinds = [(self.owner, self.partner), (self.partner, self.owner)]
        self.weights = [
            Weights.rounded_up(
                owner[factor.order],
                partner[factor.order],
                factor.norms[factor.order],
                factor.rounding,
            )
            for owner, partner in kinds[: 1 if symmetric else 2]
        ]
        self.lists: list[Lists] = []
        self.n_kept = 0  # of a list's entries
        self.n_used = 0  # of these in the support from the start; the others are in reserve

    @property
    def largest(self) -> float:
        """A bound on the entries of K, close once they have been searched."""
        if self.lists:
            return float(max(lists.values[lists.counts > 0, 0].max() for lists in self.lists))
        return float(self.factor.norms.max() ** 2 * (self.owner + self.partner).max())

    def first_support(self, eta2: float, feasible: Places) -> Support:
        """Return the largest entries of each row and column, and the feasible ones."""
        needed = self._sampled_needs(eta2)
        check_fits(float(needed.mean()) * self.shape[0], self.shape, eta2)
        most = int(np.quantile(needed, 0.9))
        if np.median(needed) > self.n_kept / 2:
            self._search(amount(most, KEPT))
        self.n_used = min(self.n_kept, amount(most, USED))
        pattern = self._pattern() + pattern_at(feasible[0], feasible[1], self.shape)
        return filled(pattern, self)

    def missing(self, support, potentials, eta2):
        """Read what is left open; where that is most of K, search all of it for more instead."""
        n_pairs = sum(
            np.count_nonzero(area.rows) * np.count_nonzero(area.columns)
            for area in self._open_areas(potentials)
        )
        if n_pairs > self.shape[0] * self.shape[1] / 2:
            n_more = min(4 * self.n_kept, self.shape[0] - 1)
            check_fits(n_more * self.shape[0], self.shape, eta2)
            self._search(n_more)
        return super().missing(support, potentials, eta2)

    def at(self, rows, columns):
        """Return K's entries in float64."""
        rows, columns = np.asarray(rows), np.asarray(columns)
        values = np.zeros(len(rows))
        off = np.flatnonzero(rows != columns)
        if len(off):
            rows, columns = rows[off], columns[off]
            products = np.abs(self.factor.products(rows, columns))
            values[off] = products * (self.owner[rows] + self.partner[columns])
        return values

    def largest_entries(self, count):
        """Return the largest entries of each row, sorted, as the search bounds them."""
        if count > self.n_kept / 2:
            self._search(amount(count, KEPT))
        lists = self.lists[0]
        held = np.arange(count) < lists.counts[:, None]
        largest = np.empty((self.shape[0], count))
        largest[self.factor.order] = np.where(held, lists.values[:, :count], 0.0)
        return largest

    def symmetric_rows(self, samples):
        """Return rows of ``K + K'`` to about seven digits."""
        place = np.argsort(self.factor.order)
        rows = np.empty((len(samples), self.shape[1]), dtype=np.float32)
        vectors = self.factor.vectors
        rows[:, self.factor.order] = np.abs(vectors[place[samples]] @ vectors.T)
        total = self.owner + self.partner
        rows *= total[samples, None] + total
        rows[np.arange(len(samples)), samples] = 0.0
        return rows

    def _sampled_needs(self, eta2):
        """Return how many entries hold the mass of a row, for a sample of rows taken alone."""
        weights, vectors = self.weights[0], self.factor.vectors
        sample = slice(0, SAMPLE)
        K = np.abs(vectors[sample] @ vectors.T)
        K *= weights.owner[sample, None] + weights.partner
        np.fill_diagonal(K, 0.0)
        return np.array([entries_needed(row, eta2) for row in K])

    def _search(self, n_kept):
        n = self.shape[0]
        n_kept = min(n - 1, n_kept)
        found = largest_similarities(
            self.factor.vectors, self.weights, n_kept, self.k, self.progress
        )
        bounds = np.empty((len(found), n))
        bounds[:, self.factor.order] = [lists.thresholds for lists in found]
        # All at once, so that an interrupted search leaves nothing half changed.
        self.lists, self.n_kept, self.n_used, self._reading = found, n_kept, 0, None
        self.bounds = bounds[0], bounds[-1]

    def _pattern(self):
        """Return the places of the first entries of the lists, of rows and of columns."""
        by_row, *by_column = (self._pattern_of(lists) for lists in self.lists)
        return by_row + (by_column[0] if by_column else by_row).T

    def _pattern_of(self, lists):
        used = np.minimum(lists.counts, self.n_used)
        held = np.arange(self.n_used) < used[:, None]
        order = self.factor.order
        columns = order[lists.places[:, : self.n_used][held]]
        return pattern_at(np.repeat(order, used), columns, self.shape)

    def _in_reserve(self, potentials):
        """Return the places of the other entries of the lists that may be above."""
        order = self.factor.order
        found = []
        for lists, way in zip(self.lists, (1, -1), strict=False):  # by row, by column
            own, other = (p[order] for p in potentials[::way])
            for batch in gen_batches(self.shape[0], BATCH):
                places = lists.places[batch, self.n_used : self.n_kept]
                held = np.arange(self.n_used, self.n_kept) < lists.counts[batch, None]
                others = other[np.where(held, places, 0)]
                values = lists.values[batch, self.n_used : self.n_kept]
                i, at = np.nonzero(held & (values > own[batch, None] + others))
                found.append((order[batch.start + i], order[places[i, at]])[::way])
        return found

    def _above(self, area, potentials):
        order = self.factor.order
        vectors, weights = self.factor.vectors, self.weights[0]
        alpha, beta = ((p[order] - LOWER * np.abs(p[order])).astype(np.float32) for p in potentials)
        rows, columns = (np.flatnonzero(mask[order]) for mask in (area.rows, area.columns))
        found = []
        for i in range(0, len(rows), PANEL[0]):
            r = rows[i : i + PANEL[0]]
            for j in range(0, len(columns), PANEL[1]):
                c = columns[j : j + PANEL[1]]
                tile = vectors[r] @ vectors[c].T
                marks = np.empty(tile.shape, dtype=bool)
                self.k.mark_above(
                    tile,
                    weights.owner[r],
                    weights.partner[c],
                    weights.margins[r],
                    weights.norms[c],
                    alpha[r],
                    beta[c],
                    marks,
                )
                at = np.nonzero(marks)
                found.append((order[r[at[0]]], order[c[at[1]]]))
        return found


def amount(needed: int, rule: tuple[float, int, int]) -> int:
    """Return how many entries to take where `needed` are likely needed."""
    factor, least, most_beyond = rule
    return max(least, min(int(factor * needed), needed + most_beyond))


def entries_needed(row, eta2: float) -> int:
    """Return how many of a row's largest entries hold its mass.

    In falling order, the first p do when their sum less p times the next one reaches eta2.
    """
    for length in (min(1024, len(row)), len(row)):
        top = np.partition(row, len(row) - length)[len(row) - length :].astype(np.float64)
        top = -np.sort(-top)
        held = np.cumsum(top)[:-1] - np.arange(1, length) * top[1:]
        if held[-1] >= eta2:
            return int(np.searchsorted(held, eta2)) + 1
    return len(row)
