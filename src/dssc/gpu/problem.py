"""A-DSSC's projection without an n x n matrix, on a device.

The CPU's engine keeps lists of every point's most similar others, because reading all pairs again
would double its work. Here it does not: pairs are filtered against rough thresholds once, which
gives likely potentials, and then against those potentials. What passes the second filter is all
that can be positive, provided the final potentials are nowhere lower than the ones filtered with;
that is the certificate. Where one is, the filter runs again.
"""

from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from scipy import sparse

from dssc._devices import is_single
from dssc._progress import Progress
from dssc.expression import coefficients_at
from dssc.gpu.factor import DeviceFactor
from dssc.gpu.graph import DeviceGraph, csr_on_device, offsets
from dssc.gpu.newton import solve_dual
from dssc.gpu.tiles import GROUP, ROWS
from dssc.result import ProjectionResult
from dssc.stochastic.outcome import compact, status_of
from dssc.stochastic.products import (
    LIKELY_STEPS,
    LOWER,
    SAMPLE,
    amount,
    entries_needed,
)
from dssc.stochastic.similarity import check_fits

NEIGHBORS = 1.5, 24, 32  # pairs a point for the rough solve, as `amount` counts them
LIKELY = 1e-3  # tolerance of likely potentials: a filter by worse ones would have to be repeated
MARGIN = 0.05  # in units of the entries of A, by which the filter goes below the potentials
RANK, GROUPS = 8, 128  # a rough threshold is the RANK-th of the largest bounds of GROUPS groups
SMALL = 1 << 14  # up to which every threshold is found exactly
MOST_PASSES = 30
TILE = 1 << 28  # bounds held at once
LONGEST_NEED = 1024  # entries of a sampled row that are looked at first


class DeviceProblem:
    """The projection of ``(|C| + |C|') / 2`` for several eta2, C by least squares on a device.

    It answers what :class:`dssc.stochastic.ProjectionProblem` answers, with results in the order of
    the samples and in main memory.
    """

    def __init__(self, X, eta1: float, device, progress: Progress | None = None):
        self.progress = progress or Progress()
        with self.progress.stage("factor"):
            self.factor = DeviceFactor(X, eta1, device)
        self.bounds, self.filters = self.factor.bounds, self.factor.filters
        n = len(self.factor.scales)
        self.shape = n, n
        self._single = is_single(X)
        self._solved: _Solved | None = None
        self._rough: DeviceGraph | None = None
        self._n_rough = 0

    @property
    def similarity(self) -> "DeviceProblem":
        """What the estimators ask about similarities; not kept, so that no cycle holds memory."""
        return self

    @cached_property
    def largest(self) -> float:
        """A bound on the similarities."""
        return float(self.factor.scales.max()) - 1.0  # h_ii / (1 - h_ii)

    def largest_entries(self, count: int) -> np.ndarray:
        """Return the largest bounds of each row, in falling order."""
        n = self.shape[0]
        sample = slice(0, min(n, ROWS, TILE // n))  # the order is random: these stand for all
        tile = self._rows(sample)
        return torch.topk(tile, count, dim=1).values.double().cpu().numpy()

    def solve(self, eta2: float, *, tol=1e-8, max_iter=1000, potentials=None) -> ProjectionResult:
        """Filter, solve, and filter again until the optimum is proved optimal for all pairs."""
        w = self._likely_potentials(eta2, potentials)
        n_iter = n_evaluations = n_passes = 0
        dual_tol = tol / 2
        graph = None
        while True:
            if graph is None:
                lowered = w - MARGIN * eta2 / 2
                with self.progress.stage("scan"):
                    graph = self._above(lowered, eta2)
                n_passes += 1
            solution = solve_dual(graph, eta2, w, dual_tol, max_iter - n_iter)
            n_iter += solution.n_iter
            n_evaluations += solution.n_evaluations
            w = solution.potentials
            proved = bool((w >= lowered).all())
            if not proved and n_passes < MOST_PASSES and n_iter < max_iter:
                graph = None
                continue
            error, gap = _certificate(graph, solution.slack, w, eta2)
            if not proved or gap <= tol or n_iter >= max_iter or dual_tol < tol / 1000:
                break
            dual_tol /= 10
        converged = proved and error <= tol and gap <= tol
        status = status_of(
            converged, error, gap, tol, n_iter, "Newton steps", "raise max_iter or eta2"
        )
        self._solved = self._solution(graph, solution.slack)
        alpha = np.empty(self.shape[0])
        alpha[self.factor.order.cpu().numpy()] = w.cpu().numpy()
        return ProjectionResult(
            plan=compact(self._solved.plan),
            potentials=(alpha, alpha),
            eta2=eta2,
            marginal_error=error,
            gap=gap,
            n_iter=n_iter,
            n_evaluations=n_evaluations,
            n_rescanned=(n_passes - 1) * self.shape[0],
            converged=converged,
            status=status,
        )

    def _rows(self, rows: slice):
        """Return some rows of bounds, in the factor's order, with nothing on the diagonal."""
        tile = self.bounds.tile(rows, slice(0, self.shape[0]))
        own = torch.arange(rows.start, rows.stop, device=tile.device)
        tile[own - rows.start, own] = 0.0
        return tile

    def _likely_potentials(self, eta2, start):
        """Return the potentials of the problem on the pairs above rough thresholds, by bounds."""
        n = self.shape[0]
        needed = self._sampled_needs(eta2)
        check_fits(float(needed.mean()) * n, self.shape, eta2)
        wanted = min(n - 1, amount(int(np.quantile(needed, 0.9)), NEIGHBORS))
        if self._rough is None or np.median(needed) > self._n_rough / 2:
            with self.progress.stage("scan"):
                self._rough, self._n_rough = self._search(wanted), wanted
        if start is not None:
            start = torch.as_tensor(start[0], device=self.factor.order.device)[self.factor.order]
        return solve_dual(self._rough, eta2, start, LIKELY, LIKELY_STEPS).potentials

    def _sampled_needs(self, eta2):
        """Return how many entries hold the mass of a row, for a sample of rows taken alone."""
        n = self.shape[0]
        sample = self._rows(slice(0, min(n, SAMPLE)))
        for length in (min(LONGEST_NEED, n), n):
            top = torch.topk(sample, length, dim=1).values.cpu().numpy()
            needed = np.array([entries_needed(row, eta2) for row in top])
            if needed.max() < length:
                break
        return needed

    def _search(self, wanted):
        thresholds = self._rough_thresholds(wanted)
        rows, columns = self.filters.pairs_above(self.factor.rough, thresholds, False)
        products = self.filters.dots(self.bounds.vectors, rows, columns)
        values = self.bounds.at(products, rows, columns)
        graph = DeviceGraph.of_pairs(rows, columns, values, self.shape[0])
        return graph._replace(values=graph.values.double())

    def _rough_thresholds(self, wanted):
        """Return for each point about its `wanted`-th largest bound."""
        n = self.shape[0]
        if n <= SMALL:
            parts = [slice(start, min(n, start + ROWS)) for start in range(0, n, ROWS)]
            return torch.cat(
                [torch.topk(self._rows(part), wanted, dim=1).values[:, -1] for part in parts]
            )
        n_columns = min(n, max(GROUPS * GROUP, n * RANK // wanted))
        tiles_a_group = -(-n_columns // (GROUPS * GROUP))
        n_groups = -(-n_columns // (tiles_a_group * GROUP))
        n_columns = min(n, n_groups * tiles_a_group * GROUP)
        maxima = self.filters.group_maxima(self.factor.rough, n_groups, tiles_a_group)
        rank = max(1, min(n_groups, round(wanted * n_columns / n)))
        return torch.topk(maxima, rank, dim=1).values[:, -1].contiguous()

    def _above(self, potentials, eta2):
        """Return the graph of all pairs that may be above potentials, by their exact products."""
        lowered = (potentials - LOWER * potentials.abs()).float()
        try:
            rows, columns = self.filters.pairs_above(self.bounds, lowered, True)
        except torch.OutOfMemoryError as error:
            raise MemoryError(
                f"eta2={eta2:g} makes more pairs possible than the device has memory for: {error}. "
                "Lower eta2, or use device='cpu'"
            ) from None
        scales = self.factor.scales
        values = self.factor.products(rows, columns) * ((scales[rows] + scales[columns]) / 2)
        return DeviceGraph.of_pairs(rows, columns, values, self.shape[0])

    def _solution(self, graph, slack):
        """Return A and the coefficients at its entries, in the samples' order."""
        n, order, scales = self.shape[0], self.factor.order, self.factor.scales
        kept = torch.nonzero(slack > 0).view(-1)
        rows, columns = graph.rows[kept], graph.columns[kept]
        C = graph.values[kept] * (2.0 * scales[rows] / (scales[rows] + scales[columns]))
        C = torch.where(graph.negative[kept], -C, C)
        keys, sorting = torch.sort(order[rows] * n + order[columns])
        rows = torch.div(keys, n, rounding_mode="floor")
        columns = (keys - rows * n).to(graph.columns.dtype)
        csr = offsets(rows, n), columns, slack[kept][sorting]
        plan = _matrix(*csr, self.shape)
        off = torch.nonzero(rows != columns).view(-1)
        C = C[sorting][off]
        C = C.float() if self._single else C
        return _Solved(plan, csr, (offsets(rows[off], n), columns[off], C))

    def _solved_as(self, A) -> "_Solved | None":
        """Return the last solution if A is its plan."""
        last = self._solved
        return last if last is not None and np.shares_memory(A.data, last.plan.data) else None

    def plan_on_device(self, A):
        """Return A in CSR form on the device, without a copy where it is the last plan."""
        if solved := self._solved_as(A):
            return solved.csr
        return csr_on_device(A, self.factor.order.device)

    def coefficients(self, A):
        """Return the entries of C off the diagonal where A is positive."""
        if solved := self._solved_as(A):
            return _matrix(*solved.coefficients, self.shape)
        place = self.factor.place

        def products(rows, columns):
            at = (place[torch.as_tensor(part, device=place.device)] for part in (rows, columns))
            return self.factor.products(*at).cpu().numpy()

        return coefficients_at(A, products, self.factor.scales[place].cpu().numpy())

    def mass(self, rows, members):
        """Return the product of rows of K with a matrix of few columns, to about three digits."""
        return self._similar(rows) @ members[self.factor.order]

    def similarities(self, rows):
        """Return rows of ``K + K'`` in main memory, to about three digits."""
        tile = self._similar(torch.as_tensor(rows, device=self.factor.place.device))
        out = torch.empty_like(tile)
        out[:, self.factor.order] = 2.0 * tile
        return out.cpu().numpy()

    def _similar(self, rows):
        """Return rows of K, their columns in the factor's order."""
        vectors, _, weights = self.bounds
        place = self.factor.place[rows]
        tile = (vectors[place] @ vectors.T).float().abs()
        tile *= weights[place, None] + weights
        tile[torch.arange(len(place), device=place.device), place] = 0.0
        return tile


class _Solved(NamedTuple):
    """The last plan, in main memory and on the device, and the coefficients at its entries."""

    plan: sparse.csr_array
    csr: tuple[torch.Tensor, torch.Tensor, torch.Tensor]
    coefficients: tuple[torch.Tensor, torch.Tensor, torch.Tensor]


def _matrix(indptr, columns, values, shape):
    """Return a CSR matrix in main memory."""
    parts = (part.cpu().numpy() for part in (values, columns, indptr))
    return sparse.csr_array(tuple(parts), shape=shape)


def _certificate(graph: DeviceGraph, slack, w, eta2):
    """Return the marginal error and the relative duality gap of the slacks' positive part.

    The terms are those of :mod:`dssc.stochastic.certificate`; missing mass goes on the diagonal.
    """
    A = slack.clamp(min=0.0)
    sums = graph.row_sums(A)
    error = float((sums - 1.0).abs().max())
    shrink = 1.0 / sums.clamp(min=1.0)
    scaled = A * shrink[graph.rows] * shrink[graph.columns]
    mass = (1.0 - graph.row_sums(scaled)).clamp(min=0.0)
    change = scaled - A
    change[graph.rows == graph.columns] += mass
    dual = float(-2.0 * w.sum() - 0.5 * eta2 * A.square().sum())
    gap = 0.5 * float(change.square().sum()) + float((mass * (2.0 * w / eta2).clamp(min=0.0)).sum())
    return error, eta2 * gap / max(1.0, abs(dual))
