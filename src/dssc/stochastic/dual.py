"""The dual of the projection on a fixed support, and the operations that Newton's method needs.

In units of eta, with slacks ``z_ij = K_ij - w_i - w_j``, the dual of (support_primal) is

    minimise  1/4 sum_ij [z_ij]_+^2 + sum_i m_i w_i ,    m the marginals,

convex, once differentiable and piecewise quadratic. Its gradient is ``m - row sums of [z]_+`` and
its generalised Hessian ``diag(S 1) + S``, S the pattern of positive slacks.

If a vertex i counts as p_i copies of itself, entry (i, j) counts p_i p_j times, and m_i is wanted
of each copy: the dual is ``1/4 sum_ij p_i p_j [z_ij]_+^2 + sum_i p_i m_i w_i``. With P = diag(p),
its gradient is P times the residual ``m - [z]_+ p``, its Hessian ``P (diag(S p / p) + S) P``.

An engine implements `Dual` for the place where it holds the entries. :class:`GraphDual` is the
CPU's implementation; vectors are arrays there, and tensors on a device.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy import sparse

from dssc import kernels
from dssc._factorising import symmetric_factor
from dssc._typing import Array
from dssc.stochastic.support import Graph


class DualPoint(NamedTuple):
    """The dual at one vector of potentials.

    Attributes
    ----------
    potentials : vector of length n
        The potentials w.
    sums : vector of length n
        Row sums of A, the positive part of the slacks.
    counts : vector of length n
        Number of positive slacks in each row.
    positive : tensor or None
        Marks the positive slacks, where the engine keeps such marks.
    degrees : vector of length n, or None
        Sum of the weights of the positive slacks in each row, where vertices have weights.
    """

    potentials: Any
    sums: Any
    counts: Any
    positive: Any = None
    degrees: Any = None


class LinearSolution(NamedTuple):
    """The solution of a linear system, its relative residual, and the number of products."""

    x: Any
    residual: float
    n_products: int


class Dual(Protocol):
    """The dual on one support: where its entries are held, and what a Newton step does to them."""

    targets: Any  # the marginals m: the row sums that A should have

    @property
    def n_vertices(self) -> int:
        """Number of potentials."""

    def similarity_range(self) -> tuple[float, float]:
        """Return the smallest and the largest similarity."""

    def zeros(self) -> Any:
        """Return potentials of zero."""

    def relative_to(self, potentials: Any, eta: float) -> "Dual":
        """Return the dual with ``(K_ij - w_i - w_j) / eta`` in the place of K."""

    def slacks(self, potentials: Any) -> Any:
        """Return ``K_ij - w_i - w_j`` for every entry."""

    def at(self, potentials: Any) -> DualPoint:
        """Evaluate the row sums of A."""

    def row_thresholds(self, potentials: Any) -> Any:
        """Return for every row the potential that makes its sum right, all others held."""

    def dot(self, x: Any, y: Any) -> float:
        """Return the inner product of two vectors, weighted if the vertices are."""

    def diagonal(self, point: DualPoint) -> Any:
        """Return the diagonal of the Newton system, positive also where no slack is."""

    def conjugate_gradients(
        self, point: DualPoint, diagonal: Any, rhs: Any, tol: float, max_steps: int
    ) -> LinearSolution:
        """Solve ``(diag(diagonal) + S) x = rhs``, S the pattern of positive slacks at `point`.

        If vertices have weights p, the solution is x / p.
        """

    def factorised_solve(self, point: DualPoint, diagonal: Any, rhs: Any) -> Any:
        """Solve the same system by a sparse factorisation."""

    def on_host(self) -> "GraphDual":
        """Return the dual with its entries in main memory."""

    def from_host(self, x: Array) -> Any:
        """Return an array as a vector of this engine."""


@dataclass(eq=False)
class GraphDual:
    """The dual on the CPU; implements `Dual`."""

    graph: Graph
    targets: Array

    @property
    def n_vertices(self) -> int:
        """Number of potentials."""
        return len(self.targets)

    @property
    def vertex_weights(self) -> Array:
        """How often each vertex counts."""
        return np.ones(self.n_vertices)

    def similarity_range(self) -> tuple[float, float]:
        """Return the smallest and the largest similarity."""
        return float(self.graph.values.min()), float(self.graph.values.max())

    def zeros(self) -> Array:
        """Return potentials of zero."""
        return np.zeros(self.n_vertices)

    def relative_to(self, potentials: Array, eta: float) -> "GraphDual":
        """Return the dual with ``(K_ij - w_i - w_j) / eta`` in the place of K."""
        values = self.slacks(potentials)
        values /= eta
        return GraphDual(self.graph._replace(values=values), self.targets)

    def slacks(self, potentials: Array) -> Array:
        """Return ``K_ij - w_i - w_j`` for every entry."""
        slack = np.empty_like(self.graph.values)
        kernels.slacks(*self.graph, potentials, slack)
        return slack

    def at(self, potentials: Array) -> DualPoint:
        """Evaluate the row sums of A."""
        n = self.n_vertices
        sums, squares, counts = np.empty(n), np.empty(n), np.empty(n, dtype=np.int64)
        kernels.row_sums(*self.graph, potentials, sums, squares, counts)
        return DualPoint(potentials, sums, counts)

    def row_thresholds(self, potentials: Array) -> Array:
        """Return for every row the potential that makes its sum right, all others held."""
        thresholds = np.empty(self.n_vertices)
        kernels.row_thresholds(*self.graph, potentials, self.targets, thresholds)
        return thresholds

    def dot(self, x: Array, y: Array) -> float:
        """Return the inner product; not by BLAS, whose result depends on its threads."""
        return float(np.sum(x * y))

    def diagonal(self, point: DualPoint) -> Array:
        """Return the number of positive slacks in each row, at least one."""
        return point.counts.clip(min=1)

    def conjugate_gradients(
        self, point: DualPoint, diagonal: Array, rhs: Array, tol: float, max_steps: int
    ) -> LinearSolution:
        """Solve ``(diag(diagonal) + S) x = rhs``, S the pattern of positive slacks at `point`."""
        x = np.empty(self.n_vertices)
        residual, n_steps = kernels.solve_pattern(
            *self._pattern(point), diagonal, rhs, tol, max_steps, x
        )
        return LinearSolution(x, residual, n_steps)

    def factorised_solve(self, point: DualPoint, diagonal: Array, rhs: Array) -> Array:
        """Solve the same system by a sparse factorisation."""
        n = self.n_vertices
        indptr, indices = self._pattern(point)
        pattern = sparse.csr_array((np.ones(len(indices)), indices, indptr), shape=(n, n))
        return symmetric_factor(pattern + sparse.diags_array(diagonal)).solve(rhs)

    def _pattern(self, point: DualPoint) -> tuple[Array, Array]:
        """Return the pattern of positive slacks in CSR form."""
        indptr = np.concatenate([[0], np.cumsum(point.counts)])
        indices = np.empty(indptr[-1], dtype=np.int32)
        kernels.active_pattern(*self.graph, point.potentials, indptr, indices)
        return indptr, indices

    def on_host(self) -> "GraphDual":
        """Return itself."""
        return self

    def from_host(self, x: Array) -> Array:
        """Return the vector itself."""
        return x


@dataclass(eq=False)
class WeightedGraphDual(GraphDual):
    """The dual on the CPU of vertices that count as `weights` copies of themselves."""

    weights: Array

    @property
    def vertex_weights(self) -> Array:
        """How often each vertex counts."""
        return self.weights

    def relative_to(self, potentials: Array, eta: float) -> "WeightedGraphDual":
        """Return the dual with ``(K_ij - w_i - w_j) / eta`` in the place of K."""
        graph = super().relative_to(potentials, eta).graph
        return WeightedGraphDual(graph, self.targets, self.weights)

    def at(self, potentials: Array) -> DualPoint:
        """Evaluate the row sums of A, in which a column counts as often as its weight says."""
        n = self.n_vertices
        sums, degrees, counts = np.empty(n), np.empty(n), np.empty(n, dtype=np.int64)
        kernels.weighted_row_sums(*self.graph, potentials, self.weights, sums, degrees, counts)
        return DualPoint(potentials, sums, counts, degrees=degrees)

    def row_thresholds(self, potentials: Array) -> Array:
        """Return for every row the potential that makes its sum right, all others held."""
        thresholds = np.empty(self.n_vertices)
        kernels.weighted_row_thresholds(
            *self.graph, potentials, self.weights, self.targets, thresholds
        )
        return thresholds

    def dot(self, x: Array, y: Array) -> float:
        """Return the weighted inner product."""
        return float(np.sum(self.weights * x * y))

    def diagonal(self, point: DualPoint) -> Array:
        """Return the diagonal of the Newton system, in the scaled unknowns."""
        return np.where(point.counts > 0, point.degrees / self.weights, 1.0)

    def conjugate_gradients(
        self, point: DualPoint, diagonal: Array, rhs: Array, tol: float, max_steps: int
    ) -> LinearSolution:
        """Solve for the unknowns times their weights, which the pattern alone multiplies."""
        solution = super().conjugate_gradients(point, diagonal, rhs, tol, max_steps)
        return solution._replace(x=solution.x / self.weights)

    def factorised_solve(self, point: DualPoint, diagonal: Array, rhs: Array) -> Array:
        """Solve the same system by a sparse factorisation."""
        return super().factorised_solve(point, diagonal, rhs) / self.weights


def graph_dual(graph: Graph, targets: Array, weights: Array | None) -> GraphDual:
    """Return the dual on a graph, perhaps with weights of its vertices."""
    if weights is None:
        return GraphDual(graph, targets)
    return WeightedGraphDual(graph, targets, weights)
