"""Similarities that are products of short vectors, searched without ever holding them all."""

from types import ModuleType
from typing import Protocol

import numpy as np

from dssc._progress import Progress
from dssc._threads import block_threads
from dssc.stochastic.bounded import MARGIN, BoundedSimilarity, lowered_by
from dssc.stochastic.newton import solve_dual
from dssc.stochastic.scan import Lists, Weights, largest_similarities
from dssc.stochastic.similarity import Start, check_fits
from dssc.stochastic.support import Graph, Support, distinct

# What is kept of a row, and what of it is used at first: in units of what is likely needed, at
# least, and at most beyond that.
KEPT = 5.0, 64, 128
USED = 1.5, 24, 32
SAMPLE = 32  # points of which all similarities are looked at to see how many are needed
PANEL = 4096, 512  # rows and columns that are read at once after the search
HELD = 1.0  # times what an earlier support holds: up to so many needed, it gives likely potentials
LIKELY, LIKELY_STEPS = 1e-2, 200  # tolerance of likely potentials, and the most steps to them
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
        self.n_used = 0  # of these to find likely potentials

    @property
    def largest(self) -> float:
        """A bound on the entries of K, close once they have been searched."""
        if self.lists:
            return float(max(lists.values[lists.counts > 0, 0].max() for lists in self.lists))
        return float(self.factor.norms.max() ** 2 * (self.owner + self.partner).max())

    def start(self, eta2, feasible, held, potentials):
        """Solve for likely potentials by bounds alone, and take in what may be positive there.

        So the exact products, which cost the most, are computed of little more than what is needed.
        """
        n_needed = self._search_for(eta2)
        if held is None:
            self._reading = None
        if held and potentials and n_needed <= HELD * held.matrix.nnz / self.shape[0]:
            likely = self._potentials_on(held, eta2, potentials)
        else:
            likely = self._likely_potentials(eta2, potentials)
        if self._search_if_open(likely, eta2):
            likely = self._likely_potentials(eta2, likely)
        places, self._reading, n_read = self._read(likely, eta2)
        places.append(feasible)
        if held:
            places.append(held.above(lowered_by(MARGIN * eta2, likely)))
        rows, columns = distinct(places, self.shape, self.symmetric)
        values = self.at(rows, columns)
        return Start(Support.of(rows, columns, values, self.shape, self.symmetric), likely, n_read)

    def first_support(self, eta2, feasible):
        """Return what may be positive at likely potentials, and the feasible entries."""
        return self.start(eta2, feasible, None, None).support

    def missing(self, support, potentials, eta2):
        """Read what is left open; where that is most of K, search all of it for more instead."""
        self._search_if_open(potentials, eta2)
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

    def _search_for(self, eta2):
        """Search, unless what was found before is likely enough; return what a row needs."""
        needed = self._sampled_needs(eta2)
        check_fits(float(needed.mean()) * self.shape[0], self.shape, eta2)
        most = int(np.quantile(needed, 0.9))
        if np.median(needed) > self.n_kept / 2:
            self._search(amount(most, KEPT))
        self.n_used = min(self.n_kept, amount(most, USED))
        return float(needed.mean())

    def _search_if_open(self, potentials, eta2):
        """Search for more where most pairs would have to be read one by one, and tell if so."""
        n_pairs = sum(
            np.count_nonzero(area.rows) * np.count_nonzero(area.columns)
            for area in self._open_areas(potentials)
        )
        if n_pairs <= self.shape[0] * self.shape[1] / 2:
            return False
        n_more = min(4 * self.n_kept, self.shape[0] - 1)
        check_fits(n_more * self.shape[0], self.shape, eta2)
        self._search(n_more)
        return True

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
        self.lists, self.n_kept, self._reading = found, n_kept, None
        self.n_used = max(self.n_used, min(n_kept, USED[1]))
        self.bounds = bounds[0], bounds[-1]

    def _likely_potentials(self, eta2, start):
        """Return the potentials of the problem on the first entries of the lists."""
        n, order = self.shape[0], self.factor.order
        graph = self._list_graph()
        if start is not None:
            start = np.concatenate([p[order] for p in start[: len(self.lists)]])
        targets = np.ones(len(graph.indptr) - 1)
        solution = solve_dual(graph, targets, eta2, start, LIKELY, LIKELY_STEPS, self.k)
        w = np.empty((len(self.lists), n))
        w[:, order] = solution.potentials.reshape(-1, n)
        return w[0], (w[0] if self.symmetric else w[1])

    def _potentials_on(self, held, eta2, start):
        """Return the potentials of the problem on a support that holds nearly all it needs."""
        targets = np.ones(len(held.graph.indptr) - 1)
        start = held.join(start)
        solution = solve_dual(held.graph, targets, eta2, start, LIKELY, LIKELY_STEPS, self.k)
        return held.split(solution.potentials)

    def _list_graph(self):
        """Return the graph of the lists' first entries, and of the diagonal, which is feasible.

        Without symmetry its vertices are the rows and then the columns.
        """
        n, n_vertices = self.shape[0], self.shape[0] * len(self.lists)
        lists = self.lists[0].first(self.n_used)
        if not self.symmetric:
            lists = [
                np.concatenate(both)
                for both in zip(lists, self.lists[1].first(self.n_used), strict=True)
            ]
            lists[1][:n] += n
        degrees = np.ones(n_vertices, dtype=np.int64)
        self.k.list_degrees(*lists, degrees)
        indptr = np.concatenate([[0], np.cumsum(degrees)])
        indices, bounds = np.empty(indptr[-1], dtype=np.int32), np.empty(indptr[-1])
        ends = indptr[:-1].copy()
        indices[ends], bounds[ends] = (np.arange(n_vertices) + n) % n_vertices, 0.0
        ends += 1
        self.k.list_graph(*lists, ends, indices, bounds)
        return Graph(indptr, indices, bounds)

    def _listed(self, potentials):
        """Return the places of the lists' entries that may be above."""
        order = self.factor.order
        found = []
        for lists, way in zip(self.lists, (1, -1), strict=False):  # by row, by column
            own, other = (p[order] for p in potentials[::way])
            # With symmetry a pair is found once, though both may list it.
            limits = lists.thresholds if self.symmetric else np.full_like(lists.thresholds, np.inf)
            entries = lists.values, lists.places, lists.counts, limits, own, other
            counts = np.empty(self.shape[0], dtype=np.int64)
            self.k.count_listed_above(*entries, counts)
            starts = np.concatenate([[0], np.cumsum(counts)])
            rows, columns = np.empty((2, starts[-1]), dtype=np.int32)
            self.k.listed_above(*entries, starts, rows, columns)
            found.append((order[rows], order[columns])[::way])
        return found

    def _above(self, area, potentials):
        """Read rows by falling reach, columns by rising potential: a row needs the first few."""
        order = self.factor.order
        alpha, beta = (p[order] for p in potentials)
        rows, columns = (np.flatnonzero(mask[order]) for mask in (area.rows, area.columns))
        assert self.bounds is not None
        reach = self.bounds[0][order] - alpha
        rows = rows[np.argsort(-reach[rows])]
        columns = columns[np.argsort(beta[columns])]
        found = []
        for i in range(0, len(rows), PANEL[0]):
            found += self._above_in_rows(rows[i : i + PANEL[0]], columns, reach, alpha, beta)
        return [(order[r], order[c]) for r, c in found]

    def _above_in_rows(self, rows, columns, reach, alpha, beta):
        """Return the places in some rows of the factor's order, sorted as `_above` says."""
        weights, vectors = self.weights[0], self.factor.vectors
        left = vectors[rows]

        def find(c):
            n_near = np.searchsorted(-reach[rows], -beta[c[0]])
            r = rows[:n_near]
            marks = np.empty((n_near, len(c)), dtype=bool)
            self.k.mark_above(
                left[:n_near] @ vectors[c].T,
                weights.owner[r],
                weights.partner[c],
                weights.margins[r],
                weights.norms[c],
                rounded_down(alpha[r]),
                rounded_down(beta[c]),
                marks,
            )
            at = np.divmod(np.flatnonzero(marks), len(c))
            return r[at[0]], c[at[1]]

        panels = [columns[j : j + PANEL[1]] for j in range(0, len(columns), PANEL[1])]
        with block_threads(self.k.n_threads()) as in_threads:
            return list(in_threads(find, panels))


def rounded_down(potentials):
    """Return potentials in float32 whose sums, in float32, are at most the exact ones."""
    return (potentials - LOWER * np.abs(potentials)).astype(np.float32)


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
