"""The projection of ``|C|`` as it is, without making it symmetric, on a device.

With the symmetric products h of a factor, ``C_ij = s_i h_ij``: rows have scales, columns have none.
The projection is a symmetric one on twice as many vertices, the rows and the columns of C. It is
solved as in :mod:`.projection_problem`: rough thresholds, a rough solve, a filter of all pairs, and
a proof that the filter has missed nothing. Here a pair is a row and a column, so there are twice as
many, and they are filtered in torch, a tile at a time.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np
import torch
from scipy import sparse
from sklearn.utils import gen_batches
from torch import Tensor

from dssc._progress import Progress
from dssc._typing import Array
from dssc.engines.torch.dual import TorchDual
from dssc.engines.torch.factor import UP
from dssc.engines.torch.graph import TorchCsr, TorchGraph, csr_on_host, offsets
from dssc.engines.torch.projection_problem import MARGIN, MOST_PASSES, TorchProjectionProblem
from dssc.result import ProjectionResult
from dssc.stochastic import NearPairs
from dssc.stochastic.certificate import duality_gap, marginal_error
from dssc.stochastic.factored_similarity import SINGLE_MARGIN
from dssc.stochastic.growing_support import solve_with_growing_support
from dssc.stochastic.newton import DualSolution
from dssc.stochastic.outcome import compact, newton_remedy, status_text

# Bounds that are held at once.
TILE_ENTRIES = 1 << 27
# A rough threshold is about the RANK-th largest bound in a sample of the other side's points.
RANK = 8


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
        w = self._rough_potentials(eta2, potentials, progress)
        pairs = _DirectedPairs(self, eta2, w, tol, progress)
        proved = solve_with_growing_support(pairs, eta2, w, tol, max_iter)
        error, gap, n_iter = proved.error, proved.gap, proved.n_iter
        converged = proved.is_proved and error <= tol and gap <= tol
        remedy = newton_remedy(n_iter, max_iter) if proved.is_proved else "raise max_iter or eta2"
        return DirectedProjection(
            plan=compact(pairs.plan),
            potentials=self.split(proved.solution.potentials),
            eta2=eta2,
            marginal_error=error,
            gap=gap,
            n_iter=n_iter,
            n_evaluations=proved.n_evaluations,
            n_rescanned=(pairs.n_passes - 1) * self.shape[0],
            converged=converged,
            status=status_text(converged, error, gap, tol, n_iter, "Newton steps", remedy),
            device_coefficients=self.coefficients(pairs.graph, proved.solution.slack),
        )

    def near_pairs(self, result: ProjectionResult) -> NearPairs:
        """Refuse: what could be proved from near pairs needs a symmetric K."""
        raise NotImplementedError("near pairs are known for symmetric similarities only")

    def pairs_above(self, potentials: Tensor, eta2: float) -> TorchGraph:
        """Return the graph of all pairs that may be above potentials, by their exact products."""
        del eta2  # the symmetric problem's errors name it
        n = self.shape[0]
        lowered = (potentials - SINGLE_MARGIN * potentials.abs()).float()
        alpha, beta = lowered[:n], lowered[n:]
        found = []
        for block, tile in self._tiles(n):
            i, j = torch.nonzero(tile > alpha[block, None] + beta).unbind(dim=1)
            found.append((i + block.start, j))
        rows, columns = (torch.cat(part) for part in zip(*found, strict=True))
        off = rows != columns
        rows, columns = rows[off], columns[off]
        values = self.factor.products(rows, columns) * self.factor.scales[rows]
        return TorchGraph.bipartite(rows, columns, values, n, self.bounds.signed)

    def split(self, potentials: Tensor) -> tuple[Array, Array]:
        """Return the potentials of rows and of columns in the order of the samples."""
        order, w = self.factor.order.cpu().numpy(), potentials.cpu().numpy()
        out = np.empty((2, len(order)))
        out[:, order] = w.reshape(2, -1)
        return out[0], out[1]

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

    def _rows(self, rows: slice) -> Tensor:
        """Return some rows of bounds, in the factor's order, with zeros on the diagonal."""
        return self._tile(rows, slice(0, self.shape[0]))

    def _tile(self, rows: slice, columns: slice) -> Tensor:
        """Return bounds on ``|C|``: those of the symmetric similarities have the mean of scales."""
        scales = self.factor.scales.float()
        own = scales[rows, None]
        tile = self.bounds.tile(rows, columns)
        tile *= UP * 2.0 * own / (own + scales[columns])
        diagonal = torch.arange(max(rows.start, columns.start), min(rows.stop, columns.stop))
        tile[diagonal - rows.start, diagonal - columns.start] = 0.0
        return tile

    def _tiles(self, n_columns: int) -> Iterator[tuple[slice, Tensor]]:
        """Yield slices of rows with their bounds at the first columns."""
        n = self.shape[0]
        for rows in gen_batches(n, max(1, TILE_ENTRIES // n_columns)):
            yield rows, self._tile(rows, slice(0, n_columns))

    def _rough_graph(self, wanted: int) -> TorchGraph:
        """Return the pairs above the rough threshold of their row or column, with their bounds."""
        n = self.shape[0]
        of_rows, of_columns = (self._side_thresholds(wanted, side) for side in (0, 1))
        parts = []
        for block, tile in self._tiles(n):
            above = torch.nonzero(tile > torch.minimum(of_rows[block, None], of_columns))
            i, j = above.unbind(dim=1)
            parts.append((i + block.start, j, tile[i, j].double()))
        rows, columns, values = (torch.cat(part) for part in zip(*parts, strict=True))
        off = rows != columns
        return TorchGraph.bipartite(rows[off], columns[off], values[off], n)

    def _side_thresholds(self, wanted: int, side: int) -> Tensor:
        """Return for each row, or for each column, about its `wanted`-th largest bound."""
        n = self.shape[0]
        n_others = min(n, -(-n * RANK // wanted))
        rank = max(1, round(wanted * n_others / n))
        others = slice(0, n_others)  # the order is random
        thresholds = []
        for own in gen_batches(n, max(1, TILE_ENTRIES // n_others)):
            tile = self._tile(others, own) if side else self._tile(own, others)
            thresholds.append(torch.topk(tile, rank, dim=1 - side).values.select(1 - side, -1))
        return torch.cat(thresholds)


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
            self.graph = self.problem.pairs_above(self.lowered, self.eta2)
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
