"""The dual of the projection with its entries on a device."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from dssc._devices import as_array
from dssc._typing import Array
from dssc.engines.torch.graph import TorchGraph
from dssc.engines.torch.sparse_sums import kernels_for
from dssc.stochastic.dual import DualPoint, GraphDual, LinearSolution
from dssc.stochastic.support import Graph


class TorchDual:
    """The dual of a doubly stochastic projection; implements :class:`dssc.stochastic.dual.Dual`."""

    def __init__(self, graph: TorchGraph, targets: Tensor | None = None, system: Any = None):
        self.graph = graph
        self.targets = graph.values.new_ones(graph.n_rows) if targets is None else targets
        self.kernels = kernels_for(graph.values.device)
        self.system = self.kernels.NewtonSystem(graph) if system is None else system

    @property
    def n_vertices(self) -> int:
        """Number of potentials."""
        return self.graph.n_rows

    def similarity_range(self) -> tuple[float, float]:
        """Return the smallest and the largest similarity."""
        return float(self.graph.values.min()), float(self.graph.values.max())

    def zeros(self) -> Tensor:
        """Return potentials of zero."""
        return torch.zeros_like(self.targets)

    def relative_to(self, potentials: Tensor, eta: float) -> "TorchDual":
        """Return the dual with ``(K_ij - w_i - w_j) / eta`` in the place of K."""
        values = self.graph.slack(potentials).div_(eta)
        return TorchDual(self.graph._replace(values=values), self.targets, self.system)

    def slacks(self, potentials: Tensor) -> Tensor:
        """Return ``K_ij - w_i - w_j`` for every entry."""
        return self.graph.slack(potentials)

    def at(self, potentials: Tensor) -> DualPoint:
        """Evaluate the row sums of A."""
        return DualPoint(potentials, *self.kernels.positive_parts(self.graph, potentials))

    def row_thresholds(self, potentials: Tensor) -> Tensor:
        """Return for every row the potential that makes its sum right, all others held."""
        return self.kernels.row_thresholds(self.graph, potentials, self.targets)

    def dot(self, x: Tensor, y: Tensor) -> float:
        """Return the inner product of two vectors."""
        return float(x @ y)

    def diagonal(self, point: DualPoint) -> Tensor:
        """Return the number of positive slacks in each row, at least one."""
        return point.counts.clip(min=1)

    def conjugate_gradients(
        self, point: DualPoint, diagonal: Tensor, rhs: Tensor, tol: float, max_steps: int
    ) -> LinearSolution:
        """Solve ``(diag(diagonal) + S) x = rhs``, S the pattern of positive slacks at `point`."""
        return self.system.solve_for(point.positive, diagonal, rhs, tol, max_steps)

    def factorised_solve(self, point: DualPoint, diagonal: Tensor, rhs: Tensor) -> Tensor:
        """Solve the same system by a sparse factorisation, in main memory."""
        host = self.on_host()
        host_point = host.at(as_array(point.potentials))
        x = host.factorised_solve(host_point, as_array(diagonal), as_array(rhs))
        return self.from_host(x)

    def on_host(self) -> GraphDual:
        """Return the dual with its entries in main memory."""
        graph = Graph(
            as_array(self.graph.indptr).astype(np.int64),
            as_array(self.graph.columns).astype(np.int32),
            as_array(self.graph.values),
        )
        return GraphDual(graph, as_array(self.targets))

    def from_host(self, x: Array) -> Tensor:
        """Return an array as a tensor on the device."""
        return torch.as_tensor(x, device=self.targets.device)
