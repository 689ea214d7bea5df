"""The projection of ``|C|`` as it is, without making it symmetric, on a device.

With the symmetric products h of a factor, ``C_ij = s_i h_ij``: rows have scales, columns have none.
The projection is a symmetric one on twice as many vertices, the rows and the columns of C. It is
solved as in :mod:`.projection_problem`: rough thresholds, a rough solve, a filter of all pairs, and
a proof that the filter has missed nothing. Here a pair is a row and a column, so there are twice as
many, and they are filtered in torch, a tile at a time.
"""

from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from dssc._progress import Progress
from dssc._typing import Array
from dssc.engines.torch.directed_search import DirectedSearch
from dssc.engines.torch.dual import TorchDual
from dssc.engines.torch.graph import TorchCsr, TorchGraph, csr_on_host, offsets
from dssc.engines.torch.pair_filters import Bounds
from dssc.engines.torch.projection_problem import (
    MARGIN,
    MOST_PASSES,
    TorchProjectionProblem,
    solve_and_judge,
)
from dssc.engines.torch.transfers import on_host
from dssc.result import ProjectionResult
from dssc.stochastic import NearPairs
from dssc.stochastic.certificate import duality_gap, marginal_error
from dssc.stochastic.newton import DualSolution
from dssc.stochastic.outcome import compact


@dataclass(frozen=True)
class DirectedProjection(ProjectionResult):
    """A projection, with the coefficients at its entries off the diagonal on a device."""

    device_coefficients: TorchCsr

    def in_main_memory(self) -> ProjectionResult:
        """Return the result without what is held on the device."""
        return ProjectionResult(**{f.name: getattr(self, f.name) for f in fields(ProjectionResult)})


class DirectedProjectionProblem(TorchProjectionProblem):
    """The projection of ``|C|`` for several eta2, C by least squares on a device.

    If signs count, coefficients below zero count as zero.

    Implements :class:`dssc.stochastic.Projectable`. Results are in the order of the samples.
    """

    search: DirectedSearch

    def __init__(self, X: Any, eta1: float, signed: bool, device: torch.device, progress: Progress):
        super().__init__(X, eta1, signed, device, progress)
        self.search = DirectedSearch(self.factor)

    def solve(  # type: ignore[override]
        self,
        eta2: float,
        *,
        tol: float = 1e-8,
        max_iter: int = 1000,
        potentials: tuple[Array, Array] | None = None,
        progress: Progress | None = None,
    ) -> DirectedProjection:
        """Filter, solve, and filter again until the optimum is proved optimal for all pairs."""
        progress = progress or Progress()
        needed = self._sampled_needs(eta2)
        w = self._rough_potentials(eta2, needed, potentials, progress)
        pairs = _DirectedPairs(self, eta2, w, tol, progress)
        proved, converged, status = solve_and_judge(pairs, eta2, w, tol, max_iter)
        return DirectedProjection(
            plan=compact(pairs.plan),
            potentials=self.split(proved.solution.potentials),
            eta2=eta2,
            marginal_error=proved.error,
            gap=proved.gap,
            n_iter=proved.n_iter,
            n_evaluations=proved.n_evaluations,
            n_rescanned=(pairs.n_passes - 1) * self.shape[0],
            converged=converged,
            status=status,
            device_coefficients=self.coefficients(pairs.graph, proved.solution.slack),
        )

    def near_pairs(self, result: ProjectionResult) -> NearPairs:
        """Refuse: what could be proved from near pairs needs a symmetric K."""
        raise NotImplementedError("near pairs are known for symmetric similarities only")

    def graph_above(self, potentials: Tensor) -> TorchGraph:
        """Return the graph of all pairs that may be above potentials, by their exact products."""
        rows, columns = self.search.pairs_above(potentials)
        values = self.factor.products(rows, columns) * self.factor.scales[rows]
        return TorchGraph.bipartite(rows, columns, values, self.shape[0], self.bounds.signed)

    def split(self, potentials: Tensor) -> tuple[Array, Array]:
        """Return the potentials of rows and of columns in the order of the samples."""
        alpha, beta = on_host(potentials.view(2, -1)[:, self.factor.place])
        return alpha, beta

    def plan(self, graph: TorchGraph, slack: Tensor) -> sparse.csr_array:
        """Return A in main memory, the positive part of the slacks."""
        kept, rows, columns, sorting = self._entries(graph, slack)
        csr = offsets(rows, self.shape[0]), columns, slack[kept][sorting]
        return csr_on_host(csr, self.shape)

    def coefficients(self, graph: TorchGraph, slack: Tensor) -> TorchCsr:
        """Return C where A is positive, off the diagonal."""
        kept, rows, columns, sorting = self._entries(graph, slack)
        values = graph.values[kept][sorting]
        negative = torch.nonzero(graph.negative[kept][sorting]).view(-1)
        if self.bounds.signed:  # their similarity is zero, their coefficient is not
            own = self.factor.place[rows[negative]]
            others = self.factor.place[columns[negative].long()]
            values[negative] = self.factor.products(own, others) * self.factor.scales[own]
        else:
            values[negative] *= -1.0
        off = torch.nonzero(rows != columns).view(-1)
        values = values[off].float() if self._is_single else values[off]
        return offsets(rows[off], self.shape[0]), columns[off], values

    def similarities_at(self, rows: Array, columns: Array) -> Array:
        """Return entries of K, whose places are in the order of the samples."""
        place = self.factor.place
        i, j = (place[torch.as_tensor(part, device=place.device)] for part in (rows, columns))
        values = self.bounds.sizes(self.factor.products(i, j) * self.factor.scales[i])
        return values.masked_fill_(i == j, 0.0).cpu().numpy()

    def _entries(self, graph: TorchGraph, slack: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return where slacks of the matrix are positive, and their places as the samples are."""
        half = len(slack) // 2  # the transposed entries follow
        kept = torch.nonzero(slack[:half] > 0).view(-1)
        return kept, *self._sorted_as_samples(graph.rows[kept], graph.columns[kept] - self.shape[0])

    def _joined(self, potentials: tuple[Array, Array]) -> Tensor:
        """Return the potentials of rows and columns, with equal means, in the factor's order."""
        order = self.factor.order
        alpha, beta = (torch.as_tensor(part, device=order.device)[order] for part in potentials)
        constant = (alpha.mean() - beta.mean()) / 2
        return torch.cat([alpha - constant, beta + constant])

    def _rough_pairs(  # type: ignore[override]
        self, n_similar: int, progress: Progress
    ) -> "_RoughGraph":
        """Return the pairs above the rough threshold of their row or column, with their bounds."""
        with progress.stage("scan"):
            return _RoughGraph(self.search.rough_graph(n_similar), n_similar)


class _RoughGraph(NamedTuple):
    """A graph that does not depend on eta2, with about `n_similar` pairs per point."""

    rough: TorchGraph
    n_similar: int

    def graph(self, bounds: Bounds) -> TorchGraph:
        """Return the graph, whose similarities are the bounds themselves."""
        return self.rough


class _DirectedPairs:
    """The pairs above some potentials less a margin; implements `GrowingSupport`."""

    def __init__(
        self,
        problem: DirectedProjectionProblem,
        eta2: float,
        potentials: Tensor,
        tol: float,
        progress: Progress,
    ):
        self.problem, self.eta2, self.tol, self.progress = problem, eta2, tol, progress
        self.potentials = potentials
        self.n_passes = 0
        self._filter()

    def _filter(self) -> None:
        self.lowered = self.potentials - MARGIN * self.eta2 / 2
        with self.progress.stage("scan"):
            self.graph = self.problem.graph_above(self.lowered)
        self.n_passes += 1

    def dual(self) -> TorchDual:
        """Return the dual on the pairs that passed."""
        return TorchDual(self.graph)

    def is_missing_any(self, potentials: Tensor) -> bool:
        """Return whether a sum of two potentials may be lower than the one filtered with.

        Moving a constant from the potentials of rows to those of columns changes no sum.
        """
        self.potentials = potentials
        n = self.problem.shape[0]
        missing = self.lowered - potentials
        return bool(missing[:n].max() + missing[n:].max() > 0.0)

    def extend(self) -> bool:
        """Filter all pairs again, unless that was done too often."""
        if self.n_passes >= MOST_PASSES:
            return False
        del self.graph  # makes room for the next one
        self._filter()
        return True

    def judge(self, solution: DualSolution) -> tuple[float, float]:
        """Return the marginal error and the relative duality gap of a solution; keep its plan."""
        problem = self.problem
        self.plan = A = problem.plan(self.graph, solution.slack)
        ones = np.ones(problem.shape[0])
        potentials = problem.split(solution.potentials)
        gap = duality_gap(
            A,
            problem.similarities_at,
            potentials,
            (ones, ones),
            self.eta2,
            self.tol,
            symmetric=False,
        )
        return marginal_error(A, (ones, ones)), gap
