"""Similarities that are products of short vectors, searched without ever holding them all."""

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from sklearn.utils import gen_batches

from dssc import kernels
from dssc._progress import Progress
from dssc._threads import block_threads
from dssc._typing import Array
from dssc.stochastic.bounded_similarity import MARGIN, Area, BoundedSimilarity, lowered_by
from dssc.stochastic.dual import graph_dual
from dssc.stochastic.newton import solve_dual
from dssc.stochastic.panels import (
    PANEL_COLUMNS,
    PANEL_ROWS,
    SPAN,
    Panels,
    Reader,
    Side,
    read_panels,
)
from dssc.stochastic.scan import Lists, Search, Weights, largest_similarities
from dssc.stochastic.similarity import MissingEntries, Places, Potentials, Start, check_memory
from dssc.stochastic.support import Graph, Support, distinct


class ListLength(NamedTuple):
    """How many entries to take where some number is likely needed."""

    factor: float
    at_least: int
    at_most_beyond: int

    def for_need(self, needed: int) -> int:
        """Return the number of entries to take where `needed` are likely needed."""
        return max(self.at_least, min(int(self.factor * needed), needed + self.at_most_beyond))


# Entries of a row that a search keeps.
KEPT = ListLength(5.0, 64, 128)
# Entries of a row that the rough solve uses.
USED = ListLength(1.5, 24, 32)
# Rows of which all similarities are looked at to see how many are needed.
SAMPLED_ROWS = 32
# An earlier support is used for the rough solve if it holds this many times what is needed.
HELD_SHARE = 1.0
# Where more than this many times the entries needed may be positive at the first rough potentials,
# these are computed again from all listed entries: many similarities are nearly equal there.
EXCESS = 8.0
# Tolerance of the rough solve, and its most steps.
ROUGH_TOL, ROUGH_STEPS = 1e-2, 200
# Relative margin for the rounding of a potential, or of a sum of two, to float32.
SINGLE_MARGIN = 2.0**-20


class Factor(Protocol):
    """Vectors whose products make the similarities; see `dssc.expression.LeastSquaresFactor`."""

    order: Array
    vectors: Array
    norms: Array
    scales: Array
    rounding: float

    def products(self, rows: Array, columns: Array) -> Array:
        """Return the products at the places given, in float64."""

    def product_rows(self, places: Array) -> Array:
        """Return the products of the vectors at some places with all vectors, in float32."""


class FactoredSimilarity(BoundedSimilarity):
    """``K_ij = |h_ij| s_i``, h_ij a product of two vectors, or its symmetric part; K_ii = 0.

    If `signed`, products below zero count as zero.

    Products are searched in float32, by upper bounds that include their rounding, and those worth
    keeping are computed again in float64. So the solver's problem is exact, and so is the proof
    that nothing was missed. `search` does the first, here or on other machines, and `reader` reads
    pairs again that its bounds leave open. `copies` are the weights of the points in the
    projection, if they have any; K does not depend on them.
    """

    def __init__(
        self,
        factor: Factor,
        symmetric: bool,
        signed: bool = False,
        search: Search = largest_similarities,
        copies: Array | None = None,
        reader: Reader = read_panels,
    ):
        n = len(factor.norms)
        self.copies = copies
        self.factor = factor
        self.shape = n, n
        self.symmetric, self.signed = symmetric, signed
        self.search, self.reader = search, reader
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
        self.n_kept = 0  # entries that each list holds
        self.n_used = 0  # entries of each list that the rough solve uses

    @property
    def largest(self) -> float:
        """A bound on the entries of K, close once they have been searched."""
        if self.lists:
            return float(max(lists.values[lists.counts > 0, 0].max() for lists in self.lists))
        return float(self.factor.norms.max() ** 2 * (self.owner + self.partner).max())

    def start(
        self,
        eta2: float,
        feasible: Places,
        held: Support | None,
        potentials: Potentials | None,
        progress: Progress,
    ) -> Start:
        """Solve roughly by bounds alone, and take in what may be positive at those potentials.

        So the exact products, which cost the most, are computed for little more than is needed.
        """
        n_needed = self.search_if_short(eta2, progress)
        if held is None:
            self.reading = None
        if held and potentials and n_needed <= HELD_SHARE * held.matrix.nnz / self.shape[0]:
            samples = np.arange(self.shape[0])
            rough = held.split(self._rough_solve(held.graph, samples, eta2, held.join(potentials)))
        else:
            rough = self._rough_potentials(eta2, potentials)
        if self._search_if_open(rough, eta2, progress):
            rough = self._rough_potentials(eta2, rough)
        places, reading, n_read = self.read(rough, eta2)
        n_places = sum(len(rows) for rows, _ in places)
        is_excessive = n_places > EXCESS * n_needed * self.shape[0]
        if held is None and is_excessive and self.n_used < self.n_kept:
            self.n_used = self.n_kept
            rough = self._rough_potentials(eta2, rough)
            places, reading, n_read = self.read(rough, eta2)
        self.reading = reading
        places.append(feasible)
        if held:
            places.append(held.above(lowered_by(MARGIN * eta2, rough)))
        rows, columns = distinct(places, self.shape, self.symmetric)
        values = self.at(rows, columns)
        return Start(Support.of(rows, columns, values, self.shape, self.symmetric), rough, n_read)

    def first_support(self, eta2: float, feasible: Places, progress: Progress) -> Support:
        """Return what may be positive at the rough solution, and the feasible entries."""
        return self.start(eta2, feasible, None, None, progress).support

    def missing(
        self, support: Support, potentials: Potentials, eta2: float, progress: Progress
    ) -> MissingEntries:
        """Read what is left open; where that is most of K, search all of it for more instead."""
        self._search_if_open(potentials, eta2, progress)
        return super().missing(support, potentials, eta2, progress)

    def at(self, rows: Array, columns: Array) -> Array:
        """Return entries of K in float64."""
        rows, columns = np.asarray(rows), np.asarray(columns)
        values = np.zeros(len(rows))
        off = np.flatnonzero(rows != columns)
        if len(off):
            rows, columns = rows[off], columns[off]
            products = self._sizes(self.factor.products(rows, columns))
            values[off] = products * (self.owner[rows] + self.partner[columns])
        return values

    def largest_entries(self, count: int, progress: Progress) -> Array:
        """Return the largest entries of each row, sorted, as the search bounds them."""
        if count > self.n_kept / 2:
            self._search(KEPT.for_need(count), progress)
        lists = self.lists[0]
        is_held = np.arange(count) < lists.counts[:, None]
        largest = np.empty((self.shape[0], count))
        largest[self.factor.order] = np.where(is_held, lists.values[:, :count], 0.0)
        return largest

    def symmetric_rows(self, samples: Array) -> Array:
        """Return rows of ``K + K'`` to about seven digits."""
        place = np.argsort(self.factor.order)
        rows = np.empty((len(samples), self.shape[1]), dtype=np.float32)
        rows[:, self.factor.order] = self._sizes(self.factor.product_rows(place[samples]))
        total = self.owner + self.partner
        rows *= total[samples, None] + total
        rows[np.arange(len(samples)), samples] = 0.0
        return rows

    def _sizes(self, products: Array) -> Array:
        """Return what products count for."""
        return np.maximum(products, 0.0) if self.signed else np.abs(products)

    def search_if_short(self, eta2: float, progress: Progress) -> float:
        """Search unless the lists are likely long enough; return how many entries a row needs."""
        needed = self._sampled_needs(eta2)
        check_memory(float(needed.mean()) * self.shape[0], self.shape, eta2)
        most = int(np.quantile(needed, 0.9))
        if np.median(needed) > self.n_kept / 2:
            self._search(KEPT.for_need(most), progress)
        self.n_used = min(self.n_kept, USED.for_need(most))
        return float(needed.mean())

    def _search_if_open(self, potentials: Potentials, eta2: float, progress: Progress) -> bool:
        """Search again where most pairs would have to be read one by one; return whether it did."""
        n_pairs = sum(
            np.count_nonzero(area.rows) * np.count_nonzero(area.columns)
            for area in self.open_areas(potentials)
        )
        if n_pairs <= self.shape[0] * self.shape[1] / 2:
            return False
        n_more = min(4 * self.n_kept, self.shape[0] - 1)
        check_memory(n_more * self.shape[0], self.shape, eta2)
        self._search(n_more, progress)
        # Potentials that leave so much open came from too few entries, so the next ones use all.
        self.n_used = self.n_kept
        return True

    def _sampled_needs(self, eta2: float) -> Array:
        """Return how many entries hold the mass of a row, for a sample of rows taken alone."""
        return np.array([entries_needed(row, eta2) for row in self._samples])

    @cached_property
    def _samples(self) -> Array:
        """A few rows of upper bounds on the entries of K."""
        weights = self.weights[0]
        sample = np.arange(min(SAMPLED_ROWS, self.shape[0]))
        K = self._sizes(self.factor.product_rows(sample))
        K *= weights.owner[sample, None] + weights.partner
        np.fill_diagonal(K, 0.0)
        return K

    def _search(self, n_kept: int, progress: Progress) -> None:
        n = self.shape[0]
        n_kept = min(n - 1, n_kept)
        lists = self.search(self.factor.vectors, self.weights, self.signed, n_kept, progress)
        bounds = np.empty((len(lists), n))
        bounds[:, self.factor.order] = [kind.thresholds for kind in lists]
        # All at once, so that an interrupted search leaves nothing half changed.
        self.lists, self.n_kept, self.reading = lists, n_kept, None
        self.n_used = max(self.n_used, min(n_kept, USED.at_least))
        self.bounds = bounds[0], bounds[-1]

    def _rough_potentials(self, eta2: float, start: Potentials | None) -> Potentials:
        """Return the potentials of the problem on the first entries of the lists."""
        n, order = self.shape[0], self.factor.order
        graph = self._list_graph()
        w = None
        if start is not None:
            w = np.concatenate([p[order] for p in start[: len(self.lists)]])
        potentials = np.empty((len(self.lists), n))
        potentials[:, order] = self._rough_solve(graph, order, eta2, w).reshape(-1, n)
        return potentials[0], potentials[-1]

    def _rough_solve(self, graph: Graph, samples: Array, eta2: float, start: Array | None) -> Array:
        """Return potentials on a graph of the `samples`, or of them as rows and as columns."""
        n_vertices = len(graph.indptr) - 1
        copies = None
        if self.copies is not None:
            copies = np.tile(self.copies[samples], n_vertices // self.shape[0])
        dual = graph_dual(graph, np.ones(n_vertices), copies)
        return solve_dual(dual, eta2, start, ROUGH_TOL, ROUGH_STEPS).potentials

    def _list_graph(self) -> Graph:
        """Return the graph of the lists' first entries, and of the diagonal, which is feasible.

        Without symmetry its vertices are the rows and then the columns.
        """
        n, n_vertices = self.shape[0], self.shape[0] * len(self.lists)
        arrays = list(self.lists[0].first(self.n_used))
        if not self.symmetric:
            both = zip(arrays, self.lists[1].first(self.n_used), strict=True)
            arrays = [np.concatenate(pair) for pair in both]
            arrays[1][:n] += n
        degrees = np.ones(n_vertices, dtype=np.int64)
        kernels.list_degrees(*arrays, degrees)
        indptr = np.concatenate([[0], np.cumsum(degrees)])
        indices, bounds = np.empty(indptr[-1], dtype=np.int32), np.empty(indptr[-1])
        ends = indptr[:-1].copy()
        indices[ends], bounds[ends] = (np.arange(n_vertices) + n) % n_vertices, 0.0
        ends += 1
        kernels.list_graph(*arrays, ends, indices, bounds)
        return Graph(indptr, indices, bounds)

    def listed_above(self, potentials: Potentials) -> list[Places]:
        """Return the places of the lists' entries that may be above."""
        order = self.factor.order
        places = []
        for lists, way in zip(self.lists, (1, -1), strict=False):  # by row, by column
            own, other = (p[order] for p in potentials[::way])
            # With symmetry a pair is returned once, though both of its points may list it.
            limits = lists.thresholds if self.symmetric else np.full_like(lists.thresholds, np.inf)
            first, second = _listed_above(lists, limits, own, other)[::way]
            places.append((order[first], order[second]))
        return places

    def area_above(self, area: Area, potentials: Potentials) -> Iterator[Places]:
        """Read rows by falling reach, columns by rising potential: a row needs the first few."""
        order = self.factor.order
        alpha, beta = (p[order] for p in potentials)
        rows, columns = (np.flatnonzero(mask[order]) for mask in (area.rows, area.columns))
        if not (len(rows) and len(columns)):
            return
        assert self.bounds is not None
        reach = self.bounds[0][order] - alpha
        row_panels = _pieces(rows[np.argsort(-reach[rows])], PANEL_ROWS)
        column_panels = [
            panel
            for span in np.split(columns, np.flatnonzero(np.diff(columns // SPAN)) + 1)
            for panel in _pieces(span[np.argsort(beta[span])], PANEL_COLUMNS)
        ]
        lowest = np.array([beta[panel[0]] for panel in column_panels])
        weights = self.weights[0]
        panels = Panels(
            [_side(p, weights.owner, weights.margins, alpha) for p in row_panels],
            [_side(p, weights.partner, weights.norms, beta) for p in column_panels],
            np.array([np.searchsorted(-reach[panel], -lowest) for panel in row_panels]),
            self.signed,
        )
        for r, c in self.reader(self.factor.vectors, panels):
            yield order[r], order[c]


def _pieces(points: Array, size: int) -> list[Array]:
    return [points[i : i + size] for i in range(0, len(points), size)]


def _side(points: Array, scales: Array, margins: Array, potentials: Array) -> Side:
    return Side(points, scales[points], margins[points], rounded_down(potentials[points]))


def _listed_above(lists: Lists, limits: Array, own: Array, others: Array) -> Places:
    """Return the entries of lists that are above the sum of the potentials, in their order."""

    def above(batch: slice) -> Array:
        entries = (array[batch] for array in (lists.values, lists.places, lists.counts))
        places = np.empty((2, lists.counts[batch].sum()), dtype=np.int32)
        n = kernels.listed_above(batch.start, *entries, limits, own[batch], others, *places)
        return places[:, :n].copy()

    batches = gen_batches(len(own), PANEL_ROWS)
    with block_threads(kernels.threads_worth(lists.values.size)) as in_threads:
        rows, columns = np.concatenate(list(in_threads(above, batches)), axis=1)
    return rows, columns


def rounded_down(potentials: Array) -> Array:
    """Return potentials in float32 whose sums, in float32, are at most the exact ones."""
    return (potentials - SINGLE_MARGIN * np.abs(potentials)).astype(np.float32)


def entries_needed(row: Array, eta2: float) -> int:
    """Return how many of a row's largest entries hold its mass.

    In falling order, the first p do when their sum less p times the next one reaches eta2.
    """
    for length in (min(1024, len(row)), len(row)):
        top = np.partition(row, len(row) - length)[len(row) - length :].astype(np.float64)
        top = -np.sort(-top)
        mass = np.cumsum(top)[:-1] - np.arange(1, length) * top[1:]
        if mass[-1] >= eta2:
            return int(np.searchsorted(mass, eta2)) + 1
    return len(row)
