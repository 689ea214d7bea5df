"""A-DSSC's projection without an n x n matrix, on a device.

All pairs are filtered once, against a threshold for every point; what is kept are the pairs whose
bound is above one of theirs. They give rough potentials, and floors a little below these. Pairs
whose bound is above the sum of their floors are computed exactly; for points whose floor is below
half their threshold, these are searched for again, a little further down, so that potentials may
fall without another search. All pairs found so are kept for the next eta2. No other pair can be
positive if no potential ends below its floor. That is the certificate. Where one does, its point's
pairs are filtered again.
"""

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from dssc._devices import is_single
from dssc._progress import Progress
from dssc._typing import Array
from dssc.engines.torch.dual import TorchDual
from dssc.engines.torch.factor import N_READS, TorchFactor
from dssc.engines.torch.graph import TorchCsr, TorchGraph, csr_on_host, offsets
from dssc.engines.torch.pair_filters import Bounds, Pairs
from dssc.engines.torch.pair_search import Candidates, PairSearch
from dssc.engines.torch.transfers import on_host
from dssc.result import ProjectionResult
from dssc.stochastic import NearPairs
from dssc.stochastic.factored_similarity import (
    ROUGH_STEPS,
    SAMPLED_ROWS,
    ListLength,
    entries_needed,
)
from dssc.stochastic.growing_support import (
    GrowingSupport,
    ProvedSolution,
    solve_with_growing_support,
)
from dssc.stochastic.newton import DualSolution, solve_dual
from dssc.stochastic.outcome import compact, newton_remedy, status_text
from dssc.stochastic.similarity import check_memory

# Similar points per point that the rough solve uses, and how many times as many are kept.
ROUGH_PAIRS = ListLength(1.5, 24, 32)
KEPT = 2
# Tolerance of the rough solve: a filter by worse potentials would have to be repeated.
ROUGH_TOL = 1e-3
# The filter goes this far below the potentials, in units of the entries of A.
MARGIN = 0.05
# Pairs that have to be searched for again are searched for this much further down, in units of a
# typical entry of A. These pairs are kept, and more neighbours have smaller entries.
SPARE = 3.0
# Largest rough graph that is kept for the next eta2: a gigabyte.
MOST_KEPT = 1 << 25
# Most filters for one eta2.
MOST_PASSES = 30
# Relative margin for the rounding of an exact similarity, and of a sum of two floors.
EXACT_MARGIN = 1e-12
# Rows of which the largest entries are looked at.
LARGEST_ROWS = 2048
# Entries of a sampled row that are looked at first.
LONGEST_NEED = 1024


@dataclass(frozen=True)
class TorchProjection(ProjectionResult):
    """A projection whose plan, and the coefficients at its entries, are on a device as well.

    So are the pairs that passed the filter, in the factor's order, and the potentials it used.
    """

    device_plan: TorchCsr
    device_coefficients: TorchCsr
    device_pairs: TorchGraph
    device_floors: Tensor

    def in_main_memory(self) -> ProjectionResult:
        """Return the result without what is held on the device."""
        return ProjectionResult(**{f.name: getattr(self, f.name) for f in fields(ProjectionResult)})


class TorchProjectionProblem:
    """The projection of ``(|C| + |C|') / 2`` for several eta2, C by least squares on a device.

    If signs count, coefficients below zero count as zero.

    Implements :class:`dssc.stochastic.Projectable`. Results are in the order of the samples.
    """

    def __init__(self, X: Any, eta1: float, signed: bool, device: torch.device, progress: Progress):
        n = X.shape[0]
        with progress.stage("factor", N_READS * n, "points") as advance:
            self.factor = TorchFactor(X, eta1, signed, device, advance)
        self.bounds, self.search = self.factor.bounds, PairSearch(self.factor)
        self.shape = n, n
        self._is_single = is_single(X)
        self._rough: _RoughPairs | None = None
        self._rough_dual: TorchDual | None = None
        self._known: Candidates | None = None

    @cached_property
    def largest(self) -> float:
        """A bound on the similarities."""
        return float(self.factor.scales.max()) - 1.0 or 1.0  # h_ii / (1 - h_ii), or a cosine

    def largest_entries(self, count: int, progress: Progress) -> Array:
        """Return the largest bounds of a sample of rows, in falling order."""
        sample = self.search.sample(LARGEST_ROWS)
        return torch.topk(sample, count, dim=1).values.double().cpu().numpy()

    def solve(
        self,
        eta2: float,
        *,
        tol: float = 1e-8,
        max_iter: int = 1000,
        potentials: tuple[Array, Array] | None = None,
        progress: Progress | None = None,
    ) -> TorchProjection:
        """Filter, solve, and filter again until the optimum is proved optimal for all pairs."""
        progress = progress or Progress()
        needed = self._sampled_needs(eta2)
        w = self._rough_potentials(eta2, needed, potentials, progress)
        spare = SPARE * eta2 / (2.0 * float(np.median(needed)))
        pairs = _FilteredPairs(self, eta2, w, spare, progress)
        proved, converged, status = solve_and_judge(pairs, eta2, w, tol, max_iter)
        plan, coefficients = self._in_samples_order(pairs.graph, proved.solution.slack)
        alpha = on_host(proved.solution.potentials[self.factor.place])
        return TorchProjection(
            plan=compact(csr_on_host(plan, self.shape)),
            potentials=(alpha, alpha),
            eta2=eta2,
            marginal_error=proved.error,
            gap=proved.gap,
            n_iter=proved.n_iter,
            n_evaluations=proved.n_evaluations,
            n_rescanned=pairs.n_reread,
            converged=converged,
            status=status,
            device_plan=plan,
            device_coefficients=coefficients,
            device_pairs=pairs.graph,
            device_floors=pairs.floors,
        )

    def near_pairs(self, result: ProjectionResult) -> NearPairs:
        """Return the pairs that passed the filter of a projection, in main memory."""
        assert isinstance(result, TorchProjection)
        graph = result.device_pairs
        rows, columns, sorting = self._sorted_as_samples(graph.rows, graph.columns)
        csr = offsets(rows, self.shape[0]), columns, graph.values[sorting]
        floors = on_host(result.device_floors[self.factor.place]).astype(np.float64, copy=False)
        return NearPairs(csr_on_host(csr, self.shape), floors)

    def _rough_potentials(
        self, eta2: float, needed: Array, start: tuple[Array, Array] | None, progress: Progress
    ) -> Tensor:
        """Return the potentials of the problem on the pairs above rough thresholds, by bounds."""
        n = self.shape[0]
        check_memory(float(needed.mean()) * n, self.shape, eta2)
        if self._rough is None or np.median(needed) > self._rough.n_similar / 2:
            wanted = ROUGH_PAIRS.for_need(int(np.quantile(needed, 0.9)))
            self._rough, self._rough_dual = self._rough_pairs(min(n - 1, wanted), progress), None
        w = None if start is None else self._joined(start)
        dual = self._rough_dual or TorchDual(self._rough.graph(self.bounds))
        if len(dual.graph.values) <= MOST_KEPT:
            self._rough_dual = dual
        return solve_dual(dual, eta2, w, ROUGH_TOL, ROUGH_STEPS).potentials

    def _joined(self, potentials: tuple[Array, Array]) -> Tensor:
        """Return the potentials of the dual's vertices, in the factor's order."""
        order = self.factor.order
        return torch.as_tensor(potentials[0], device=order.device)[order]

    def _sampled_needs(self, eta2: float) -> Array:
        """Return how many entries hold the mass of a row, for a sample of rows taken alone."""
        n = self.shape[0]
        sample = self.search.sample(SAMPLED_ROWS)
        for length in (min(LONGEST_NEED, n), n):
            top = torch.topk(sample, length, dim=1).values.cpu().numpy()
            needed = np.array([entries_needed(row, eta2) for row in top])
            if needed.max() < length:
                break
        return needed

    def _rough_pairs(self, n_similar: int, progress: Progress) -> "_RoughPairs":
        """Return the pairs of points with about `KEPT * n_similar` others."""
        n_kept = min(self.shape[0] - 1, KEPT * n_similar)
        few, many = self.search.thresholds(n_similar, n_kept, progress)
        self._known = self.search.above_either(many, progress)
        pairs = self._known.pairs
        return _RoughPairs(pairs.at(torch.nonzero(pairs.above_either(few)).view(-1)), n_similar)

    def pairs_above(self, floors: Tensor, spare: float, progress: Progress) -> tuple[Pairs, int]:
        """Return the pairs above floors, and of how many points they were searched for.

        Those of a point whose known pairs end above its floor are searched for down to `spare`
        below it, and known from then on.
        """
        assert self._known is not None
        reread = torch.nonzero(self._known.floors > floors).view(-1)
        if len(reread):
            self._known = self.search.lowered(self._known, reread, floors - spare, progress)
        return self._known.above(floors), len(reread)

    def graph_of(self, pairs: Pairs, floors: Tensor) -> TorchGraph:
        """Return those pairs whose exact similarity is above their floors, as a graph."""
        rows, columns, _ = pairs
        scales = self.factor.scales
        values = self.factor.products(rows, columns) * ((scales[rows] + scales[columns]) / 2)
        least = floors[rows] + floors[columns]
        sizes = self.bounds.sizes(values)
        kept = torch.nonzero(sizes > least - EXACT_MARGIN * least.abs()).view(-1)
        rows, columns, values = rows[kept], columns[kept], values[kept]
        return TorchGraph.of_pairs(rows, columns, values, self.shape[0], self.bounds.signed)

    def _in_samples_order(self, graph: TorchGraph, slack: Tensor) -> tuple[TorchCsr, TorchCsr]:
        """Return A, and the coefficients at its entries off the diagonal."""
        n, scales = self.shape[0], self.factor.scales
        kept = torch.nonzero(slack > 0).view(-1)
        rows, columns = graph.rows[kept], graph.columns[kept]
        C = graph.values[kept] * (2.0 * scales[rows] / (scales[rows] + scales[columns]))
        negative = torch.nonzero(graph.negative[kept]).view(-1)
        if self.bounds.signed:  # their similarity is zero, their coefficient is not
            places = rows[negative], columns[negative]
            C[negative] = self.factor.products(*places) * scales[places[0]]
        else:
            C[negative] *= -1.0
        rows, columns, sorting = self._sorted_as_samples(rows, columns)
        plan = offsets(rows, n), columns, slack[kept][sorting]
        off = torch.nonzero(rows != columns).view(-1)
        C = C[sorting][off]
        C = C.float() if self._is_single else C
        return plan, (offsets(rows[off], n), columns[off], C)

    def _sorted_as_samples(self, rows: Tensor, columns: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return places in the order of the samples, row by row, and where each one was."""
        n, order = self.shape[0], self.factor.order
        keys, sorting = torch.sort(order[rows] * n + order[columns])
        sorted_rows = torch.div(keys, n, rounding_mode="floor")
        return sorted_rows, (keys - sorted_rows * n).to(columns.dtype), sorting

    def mass(self, rows: Tensor, members: Tensor) -> Tensor:
        """Return the product of rows of K with a matrix of few columns, to about three digits."""
        return self._similarity_rows(rows) @ members[self.factor.order]

    def similarities(self, rows: Array) -> Array:
        """Return rows of ``K + K'`` in main memory, to about three digits."""
        tile = self._similarity_rows(torch.as_tensor(rows, device=self.factor.place.device))
        out = torch.empty_like(tile)
        out[:, self.factor.order] = 2.0 * tile
        return out.cpu().numpy()

    def _similarity_rows(self, rows: Tensor) -> Tensor:
        """Return rows of K, their columns in the factor's order."""
        vectors, _, offsets, _, weights, _ = self.bounds
        place = self.factor.place[rows]
        products = (vectors[place] @ vectors.T).float() + (offsets[place, None] + offsets)
        tile = self.bounds.sizes(products)
        tile *= weights[place, None] + weights
        tile[torch.arange(len(place), device=place.device), place] = 0.0
        return tile


def solve_and_judge(
    pairs: GrowingSupport, eta2: float, start: Tensor, tol: float, max_iter: int
) -> tuple[ProvedSolution, bool, str]:
    """Return the solution on a growing support, whether it is converged, and that in words."""
    proved = solve_with_growing_support(pairs, eta2, start, tol, max_iter)
    error, gap, n_iter = proved.error, proved.gap, proved.n_iter
    converged = proved.is_proved and error <= tol and gap <= tol
    remedy = newton_remedy(n_iter, max_iter) if proved.is_proved else "raise max_iter or eta2"
    return (
        proved,
        converged,
        status_text(converged, error, gap, tol, n_iter, "Newton steps", remedy),
    )


class _RoughPairs(NamedTuple):
    """The pairs of points with about `n_similar` others, which do not depend on eta2."""

    pairs: Pairs
    n_similar: int

    def graph(self, bounds: Bounds) -> TorchGraph:
        """Return the pairs with rough similarities."""
        rows, columns, sizes = self.pairs
        sizes = (sizes - bounds.errors_at(rows, columns)).clamp(min=0.0)
        graph = TorchGraph.of_pairs(rows, columns, sizes, len(bounds.weights))
        return graph._replace(values=graph.values.double())


class _FilteredPairs:
    """The pairs above some potentials less a margin; implements `GrowingSupport`."""

    def __init__(
        self,
        problem: TorchProjectionProblem,
        eta2: float,
        potentials: Tensor,
        spare: float,
        progress: Progress,
    ):
        self.problem, self.eta2, self.spare, self.progress = problem, eta2, spare, progress
        self.potentials = potentials
        self.n_passes = self.n_reread = 0
        # Potentials that may not be lower.
        self.floors = potentials - MARGIN * eta2 / 2
        self._filter()

    def _filter(self) -> None:
        pairs, n_reread = self.problem.pairs_above(self.floors, self.spare, self.progress)
        with self.progress.stage("scan"):
            self.graph = self.problem.graph_of(pairs, self.floors)
        self.n_passes += 1
        self.n_reread += n_reread

    def dual(self) -> TorchDual:
        """Return the dual on the pairs that passed."""
        return TorchDual(self.graph)

    def is_missing_any(self, potentials: Tensor) -> bool:
        """Return whether a potential is lower than the one that pairs were filtered with."""
        self.potentials = potentials
        return not bool((potentials >= self.floors).all())

    def extend(self) -> bool:
        """Filter the pairs of points with a lower potential again, unless that was done often."""
        if self.n_passes >= MOST_PASSES:
            return False
        del self.graph  # makes room for the next one
        self.floors = torch.minimum(self.floors, self.potentials - MARGIN * self.eta2 / 2)
        self._filter()
        return True

    def judge(self, solution: DualSolution) -> tuple[float, float]:
        """Return the marginal error and the relative duality gap of a solution."""
        return _certificate(self.graph, solution.slack, solution.potentials, self.eta2)


def _certificate(graph: TorchGraph, slack: Tensor, w: Tensor, eta2: float) -> tuple[float, float]:
    """Return the marginal error and the relative duality gap of the slacks' positive part.

    Terms and units are those of :mod:`dssc.stochastic.certificate`; missing mass goes on the
    diagonal.
    """
    A = slack.clamp(min=0.0)
    sums = graph.row_sums(A)
    error = float((sums - 1.0).abs().max())
    shrink = 1.0 / sums.clamp(min=1.0)
    scaled = A * shrink[graph.rows] * shrink[graph.columns]
    mass = (1.0 - graph.row_sums(scaled)).clamp(min=0.0)
    scaled[graph.rows == graph.columns] += mass
    change = 0.5 * (scaled - A).square().sum()
    gap = change + (mass * (2.0 * w / eta2).clamp(min=0.0)).sum()
    return error, float(gap / scaled.square().sum())
