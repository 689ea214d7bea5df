r"""The convex model of J-DSSC, (model) in the paper, and a lower bound for it.

In row notation, with ``C = C_p - C_q`` and ``W = C_p + C_q``, it is

.. math:: \min_{C, W, A} \tfrac12 \|X - C X\|_F^2 + \tfrac{\eta_1}{2} \|W - \eta_2 A\|_F^2
          + \eta_3 \sum_{ij} W_{ij}
          \quad \text{subject to } W \ge |C|, \; W_{ii} = 0, \; A \in \Omega_n .

**Without W.** For given C and A every entry of W minimises a parabola with its lowest point at
``T = eta2 A - eta3 / eta1``, so ``W = max(|C|, T)``. What remains is a penalty of (C, A) with a
dead zone: it is ``eta1 / 2 (W - T)^2`` and a term in A alone, so it has no slope in C while
``|C| < T``. ``C_p`` and ``C_q`` overlap exactly in the dead zone, by ``(T - |C|) / 2``.

**The dual.** Give the residual ``R = X - C X`` the multiplier L (n x d) and the sums of A the
multipliers a and b; write ``G = L X'`` and ``p_ij = a_i + b_j``. For every feasible (C, W, A),

    objective >= <L, X> - |L|^2 / 2 + sum(a) + sum(b)
                 + sum_ij inf { -G C + eta1 / 2 (W - eta2 A)^2 + eta3 W - p A } ,

each infimum over ``W >= |C|`` and ``A >= 0``: the quadratic in R is at least its tangent, and the
sums of A are one. Take ``C = W sign(G)``. Off the diagonal the infimum is finite only where raising
W and ``eta2 A`` together does not lower the value, ``p_ij <= eta2 (eta3 - |G_ij|)``. There it is
``-[|G| - eta3]_+^2 / (2 eta1)``, at A = 0, or ``-[p]_+^2 / (2 eta1 eta2^2)``, at W = 0; at most one
of the two is nonzero. On the diagonal, where C = W = 0, it is the latter for any p. So

    dual(L, a, b) = <L, X> - |L|^2 / 2 + sum(a) + sum(b)
                    - sum_{i != j} [|G_ij| - eta3]_+^2 / (2 eta1)
                    - sum_ij [p_ij]_+^2 / (2 eta1 eta2^2)

bounds the optimum from below for every L, a, b with ``a_i + b_j <= eta2 (eta3 - |G_ij|)``.

**A feasible point from an iterate.** L is a multiple of the residual. Given L and b, the dual is a
sum of concave functions, one of each a_i on a half-line. The best a_i is the end of the half-line,
or the point where ``sum_j [a_i + b_j]_+ = eta1 eta2^2`` if that comes first. The same holds for b
given a. These two steps make any potentials feasible, and they leave the optimum unchanged.
"""

from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple

import numpy as np
from scipy import sparse

from dssc._devices import as_array
from dssc._typing import Array, Matrix
from dssc.joint.array_types import ArrayT
from dssc.joint.cpu_operations import CpuOperations
from dssc.joint.entries import stored_entries
from dssc.joint.operations import ALL_ROWS, JointOperations
from dssc.joint.penalty import CouplingPenalty
from dssc.result import ProjectionResult
from dssc.stochastic.certificate import round_to_feasible
from dssc.stochastic.similarity import Potentials

# The operations of a model without an engine, whose X is an array.
CPU: Any = CpuOperations()
# Tolerance of the projection of W.
PROJECTION_TOL = 1e-9
# Multiples of the residual that are tried as the dual's L. Near the optimum the first is best.
SHARES = (1.0, 0.999, 0.98, 0.9, 0.75, 0.5, 0.25)


class LowerBound(NamedTuple):
    """A feasible point of the dual: its value, L as a multiple of the residual, and (a, b)."""

    value: float
    share: float
    potentials: Potentials


@dataclass(frozen=True)
class JointModel(Generic[ArrayT]):
    """The data and parameters of one joint problem, its value, and lower bounds of its optimum.

    Rows of X are samples. X, and every n x n matrix, is an array, or a tensor with the operations
    of the torch engine. A is sparse and small: A and the potentials are always in main memory.
    """

    X: ArrayT
    eta1: float
    eta2: float
    eta3: float
    operations: JointOperations[ArrayT] = field(default=CPU, repr=False)

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.X)

    @property
    def penalty(self) -> CouplingPenalty:
        """The penalty of (C, A)."""
        return CouplingPenalty(self.eta1, self.eta2, self.eta3)

    def residual(self, C: ArrayT, rows: slice = ALL_ROWS) -> ArrayT:
        """Return ``X - C X``, or some of its rows."""
        return self.operations.residual(self.X, C, rows)

    def products(self, R: ArrayT, rows: slice = ALL_ROWS) -> tuple[float, float]:
        """Return ``<R, X>`` and ``|R|^2`` of a residual, or of some of its rows."""
        return self.operations.inner_products(R, self.X[rows])

    def fit_products(self, C: ArrayT) -> tuple[float, float]:
        """Return the products of ``R = X - C X``; only a few rows of R are held at a time."""
        inner = norm2 = 0.0
        for rows in self.operations.blocks(*self.X.shape):
            part = self.products(self.residual(C, rows), rows)
            inner, norm2 = inner + part[0], norm2 + part[1]
        return inner, norm2

    def objective(self, C: ArrayT, A: Matrix, residual: ArrayT | None = None) -> float:
        """Return the model's value at (C, A) with the best W. The diagonal of C must be zero.

        Where A is zero W is the magnitude of C, so only the stored entries of A are corrected.
        """
        ops, penalty = self.operations, self.penalty
        if residual is None:
            parts = (self.residual(C, rows) for rows in ops.blocks(*self.X.shape))
            value = 0.5 * sum(map(ops.sum_of_squares, parts))
        else:
            value = 0.5 * ops.sum_of_squares(residual)
        for rows in ops.blocks(self.n, self.n):
            sizes = ops.magnitudes(C[rows])
            value += 0.5 * self.eta1 * ops.sum_of_squares(sizes)
            if self.eta3 > 0.0:
                value += self.eta3 * float(sizes.sum())
        i, j, a = stored_entries(A)
        off = i != j
        c = np.abs(ops.entries_at(C, i[off], j[off])).astype(np.float64)
        w = np.maximum(c, penalty.target(a[off]))
        value += float(np.sum(penalty.cost(w, a[off]) - penalty.cost(c, 0.0)))
        diagonal = float(np.einsum("i,i->", a[~off], a[~off]))
        return value + 0.5 * self.eta1 * self.eta2**2 * diagonal

    def upper_bound(self, C: ArrayT, A: Matrix, residual: ArrayT | None = None) -> float:
        """Return the objective at C and at A rounded to exact double stochasticity."""
        ones = np.ones(self.n)
        scaled, (rows, columns, mass) = round_to_feasible(sparse.csr_array(A), (ones, ones))
        rest = sparse.csr_array((mass, (rows, columns)), shape=scaled.shape)
        return self.objective(C, scaled + rest, residual)

    def best_W(self, C: ArrayT, A: Matrix) -> ArrayT:
        """Return ``max(|C|, eta2 A - eta3 / eta1)`` with a zero diagonal, in the type of C."""
        W = abs(C)
        i, j, a = stored_entries(A)
        self.operations.raise_entries(W, i, j, self.penalty.target(a))
        self.operations.fill_diagonal(W, 0.0)
        return W

    def overlap(self, C: ArrayT, A: Matrix) -> Array:
        """Return the positive entries of ``min(C_p, C_q)`` for the best splitting of C."""
        i, j, a = stored_entries(A)
        off = i != j
        sizes = np.abs(self.operations.entries_at(C, i[off], j[off]))
        excess = (self.penalty.target(a[off]) - sizes) / 2
        return excess[excess > 0.0]

    def project(self, W: ArrayT, potentials: Potentials | None = None) -> ProjectionResult:
        """Return the doubly stochastic projection of W, which is the best A for it.

        `potentials` are a start: those of an earlier projection.
        """
        problem = self.operations.projection_problem(W)
        return problem.solve(self.eta2, tol=PROJECTION_TOL, potentials=potentials)

    def lower_bound(
        self, products: tuple[float, float], potentials: Potentials, G: ArrayT
    ) -> LowerBound:
        """Return the best feasible point of the dual derived from an iterate.

        Parameters
        ----------
        products : tuple of two floats
            ``<R, X>`` and ``|R|^2`` of the iterate's residual R.
        potentials : tuple of two ndarrays
            The model's (a, b), not those of a projection.
        G : matrix
            ``R X'``.
        """
        inner, norm2 = products
        best = LowerBound(-np.inf, 1.0, potentials)
        for share in SHARES:
            a, b = self.feasible_potentials(G, share, potentials)
            value = share * inner - 0.5 * share**2 * norm2 + self._potentials_value(a, b)
            value -= self._coefficients_value(G, share)
            if value <= best.value:
                break
            best = LowerBound(value, share, (a, b))
        return best

    def lower_bound_at(self, C: ArrayT, potentials: Potentials) -> LowerBound:
        """Return the lower bound from C and the potentials (alpha, beta) of a projection."""
        factor = -self.eta1 * self.eta2
        alpha, beta = potentials
        R = self.residual(C)
        return self.lower_bound(self.products(R), (factor * alpha, factor * beta), R @ self.X.T)

    def feasible_potentials(self, G: ArrayT, share: float, potentials: Potentials) -> Potentials:
        """Return the best a for the given b, then the best b for that a, both feasible."""
        _, b = potentials
        a = self._best_given(self._caps(G, share, b), b)
        b = self._best_given(self._caps(G.T, share, a), a)
        return a, b

    def _caps(self, G: ArrayT, share: float, other: Array) -> Array:
        """Return for every row the largest potential that the constraints allow."""
        ops = self.operations
        column_potentials = ops.array(other)
        caps = []
        for rows in ops.blocks(self.n, self.n):
            cap = self.eta2 * (self.eta3 - share * ops.magnitudes(G[rows])) - column_potentials
            ops.fill_diagonal(cap, np.inf, rows.start)
            caps.append(ops.xp.amin(cap, 1))
        return as_array(ops.xp.concatenate(caps))

    def _best_given(self, caps: Array, other: Array) -> Array:
        """Return ``min(cap, t)``, t where ``sum_j [t + other_j]_+`` reaches ``eta1 eta2^2``."""
        price = self.eta1 * self.eta2**2
        ordered = -np.sort(-other)
        partial = np.cumsum(ordered)
        counts = np.arange(1, len(other) + 1)
        t = (price - partial) / counts
        n_positive = counts[t + ordered > 0.0].max()
        return np.minimum(caps, t[n_positive - 1])

    def _potentials_value(self, a: Array, b: Array) -> float:
        """Return ``sum(a) + sum(b) - sum_ij [a_i + b_j]_+^2 / (2 eta1 eta2^2)``."""
        order = np.sort(b)
        suffix = np.concatenate([np.cumsum(order[::-1])[::-1], [0.0]])
        suffix2 = np.concatenate([np.cumsum(order[::-1] ** 2)[::-1], [0.0]])
        first = np.searchsorted(order, -a, side="right")
        counts = len(b) - first
        squares = counts * a**2 + 2 * a * suffix[first] + suffix2[first]
        price = 2 * self.eta1 * self.eta2**2
        return float(a.sum() + b.sum() - np.maximum(squares, 0.0).sum() / price)

    def _coefficients_value(self, G: ArrayT, share: float) -> float:
        """Return ``sum_{i != j} [share |G_ij| - eta3]_+^2 / (2 eta1)``."""
        ops = self.operations
        total = 0.0
        for rows in ops.blocks(self.n, self.n):
            excess = (share * ops.magnitudes(G[rows]) - self.eta3).clip(0.0)
            ops.fill_diagonal(excess, 0.0, rows.start)
            total += ops.sum_of_squares(excess)
        return total / (2 * self.eta1)
