"""A first-order solver of the joint model: Douglas and Rachford's splitting, accelerated."""

from typing import Generic

import numpy as np

from dssc._devices import as_array
from dssc.joint.acceleration import Anderson
from dssc.joint.array_types import ArrayT
from dssc.joint.coupling import ANCHORING, Candidates, CouplingCost
from dssc.joint.entries import Entries
from dssc.joint.fit_step import fit_step
from dssc.joint.model import JointModel, LowerBound
from dssc.joint.operations import SplittingOperations
from dssc.joint.outcome import Bounds, History, certified_result
from dssc.joint.proximal_weight import WeightSearch
from dssc.joint.result import JointResult
from dssc.stochastic.dual import GraphDual
from dssc.stochastic.newton import solve_dual
from dssc.stochastic.support import Support

# Over-relaxation of the step from Y to C.
RELAXATION = 1.6
# The proximal weight rho, as a share of the ratio of slopes to coefficients where A is positive.
# With this share the entries with the slowest part of the error move about as fast as they can.
WEIGHT_SHARE = 0.8
# The share at a small gap. At a larger gap A changes a lot, and a larger rho damps it.
LATE_WEIGHT_SHARE = 0.3
# The largest gap at which the late share is used.
SMALL_GAP = 3e-4
# rho does not change by less than this factor.
LEAST_CHANGE = 1.5
# Iterations after which rho is set by the ratio of slopes to coefficients.
WEIGHT_SET_AT = (5, 10, 15, 20, 30)
# From this iteration on, rho follows how fast the gap falls: what is slow depends on the data.
WEIGHT_SEARCHED_FROM = 40
# Iterations between two such changes of rho.
WEIGHT_SEARCHED_EVERY = 20
# Iterations between two computations of the bounds.
CHECKED_EVERY = 10
# Entries of A that would be above minus this margin are candidates of the next step.
MARGIN = 0.2
# In this many first iterations z is so flat that A would be nearly dense. Only the largest entries
# are candidates then.
FIRST_ITERATIONS = 10
# Candidates of each row and column in the first iterations.
FIRST_NEIGHBORS = 16
# Most Newton steps in the potentials per iteration.
NEWTON_STEPS = 15
# Allowed error of the sums of A, in units of the gap.
SUM_TOLERANCE = 1e-2
# The solver stops after this many iterations without a better gap.
STALLED_ITERATIONS = 200
# Above this error of A's sums Newton's method has failed. A is then kept close to the previous
# iterate.
FAILED_ERROR = 0.5
# Weight of |A - previous A|^2 after the first failure. Every further failure raises it tenfold.
FAILED_ANCHORING = 30.0
# The largest weight of |A - previous A|^2.
LARGEST_ANCHORING = 300.0


def solve(model: JointModel[ArrayT], *, tol: float, max_iter: int) -> JointResult:
    r"""Minimise the joint model to a relative duality gap of `tol`, by products and projections.

    The model is ``f(C) + g(C)``: the fit ``f = 1/2 |X - C X|^2``, and the coupling g, in which W
    and A are minimised out. Both have exact proximal steps: that of f is a product with a matrix
    known beforehand (:mod:`dssc.joint.fit_step`), that of g a transport problem
    (:mod:`dssc.joint.coupling`), whose potentials are kept from one iteration to the next. The
    iteration maps z to

    .. math:: z + 1.6 \, (C - Y), \quad Y = \mathrm{prox}_g(z), \; C = \mathrm{prox}_f(2 Y - z),

    with Anderson acceleration (:mod:`dssc.joint.acceleration`). With ``rho = eta1`` an entry
    without affinity has the same curvature in g as in the proximal term, so its error is halved,
    whatever f does to it. Entries with affinity are slower; rho is chosen for them.

    Parameters
    ----------
    model : JointModel
        The problem.
    tol : float
        Largest relative duality gap.
    max_iter : int
        Most iterations.
    """
    history = History()
    iteration, weights = DouglasRachford(model), WeightSearch()
    n_iter, since_best, best = 0, 0, np.inf
    while True:
        n_iter += 1
        iteration.step()
        if n_iter % CHECKED_EVERY == 0 or n_iter == max_iter:
            iteration.update_bounds()
            gap = iteration.bounds.gap
            history.record(iteration.bounds.value)
            since_best = 0 if gap < best else since_best + CHECKED_EVERY
            best = min(best, gap)
            if gap <= tol or since_best >= STALLED_ITERATIONS or n_iter == max_iter:
                break  # before the next step: the point that was checked is returned
        iteration.advance()
        if n_iter in WEIGHT_SET_AT:
            iteration.set_weight_by_ratio()
        if n_iter >= WEIGHT_SEARCHED_FROM and n_iter % WEIGHT_SEARCHED_EVERY == 0:
            iteration.set_weight(iteration.cost.rho * weights.factor(iteration.bounds.gap))
    bounds = iteration.bounds
    return certified_result(
        model,
        iteration.release(),
        iteration.A.matrix(model.n),
        bounds.projection_potentials(model),
        bounds.dual,
        history=history,
        tol=tol,
        n_iter=n_iter,
        steps="iterations",
    )


class DouglasRachford(Generic[ArrayT]):
    """The variables of the splitting, and one iteration.

    Attributes
    ----------
    z, Y, F : matrices
        The point, the C of the coupling's proximal step, and the residual ``1.6 (C - Y)``.
    A : Entries
        The affinity that belongs to Y.
    last : tuple of Candidates and vector
        The entries among which A was found, and its values there.
    potentials : tuple of two vectors
        Potentials (a, b) of A.
    cost : CouplingCost
        The cost of an entry of A for the current proximal weight.
    bounds : Bounds
        The model's value and the best lower bound, at the last check.
    """

    def __init__(self, model: JointModel[ArrayT]):
        self.model = model
        self.operations: SplittingOperations[ArrayT] = model.operations
        ops = self.operations
        self.blocks = ops.blocks(model.n, model.n)
        self.n_steps = 0
        self.z = ops.least_squares(model.X, model.eta1)
        sizes = ops.magnitudes_at(self.z, ops.largest_keys(self.z, 1))
        n_off_diagonal = len(sizes) - model.n
        size = (float((sizes**2).sum()) / n_off_diagonal) ** 0.5
        rho = WEIGHT_SHARE * (model.eta1 + model.eta3 / size)
        self.cost = CouplingCost(model.penalty, rho)
        self._prepare_step()
        self.z *= 1.0 + model.eta1 / rho
        n_remembered = ops.n_remembered(model.X)
        store = [ops.empty_square(model.X, single=True) for _ in range(2 * n_remembered)]
        self.acceleration = Anderson(store, self.blocks)
        self.potentials = self._first_potentials()
        self.A = Entries(ops.array(np.zeros(0, dtype=np.int64)), ops.array(np.zeros(0)))
        # The previous A, extrapolated as the acceleration extrapolates z.
        self.anchor = self.A
        # For each pair of the acceleration: A after the step and before.
        self.changes = [(self.A, self.A)] * n_remembered
        self.bounds = Bounds()

    def _prepare_step(self) -> None:
        """Allocate what a step with the current rho needs."""
        X = self.model.X
        self.fit = fit_step(self.operations, X, self.cost.rho)
        self.Y, self.F = (self.operations.empty_square(X) for _ in range(2))

    def _first_potentials(self) -> tuple[ArrayT, ArrayT]:
        """Return rough potentials, from the projection of the largest entries alone."""
        m, ops = self.model, self.operations
        keys = ops.largest_keys(self.z, FIRST_NEIGHBORS)
        sizes = as_array(ops.magnitudes_at(self.z, keys))
        i, j = np.divmod(as_array(keys), m.n)
        support = Support.of(i, j, sizes, (m.n, m.n), symmetric=False)
        dual = GraphDual(support.graph, np.ones(2 * m.n))
        alpha, beta = support.split(solve_dual(dual, m.eta2, None, 0.01, 200).potentials)
        shift = m.eta3 / (2 * self.cost.rho)
        unit = self.cost.unit
        return ops.array(unit * (shift - alpha)), ops.array(unit * (shift - beta))

    def step(self) -> None:
        """Take both proximal steps from z: set A, Y and F."""
        ops = self.operations
        candidates = self._candidates()
        tol = SUM_TOLERANCE * min(1.0, self.bounds.gap)
        start = ops.xp.concatenate(self.potentials)
        values, self.potentials, error = ops.solve_coupling(
            self.cost, candidates, start, tol, NEWTON_STEPS
        )
        self._set_anchoring(error)
        self.last = candidates, values
        A = Entries(candidates.keys, values).positive()
        self.changes[self.acceleration.slot] = A, self.A
        self.A = A
        ops.coupling_step(self.z, A, self.model.penalty, self.cost.rho, self.Y)
        self.fit.write(self.z, self.Y, self.F)
        for rows in self.blocks:
            F = self.F[rows]
            F -= self.Y[rows]
            F *= RELAXATION

    def _candidates(self) -> Candidates[ArrayT]:
        """Return the entries that may be positive in the next A."""
        ops = self.operations
        self.n_steps += 1
        if self.n_steps <= FIRST_ITERATIONS:
            keys = ops.largest_keys(self.z, FIRST_NEIGHBORS)
        else:
            rows, columns = (part / self.cost.unit for part in self.potentials)
            keys = ops.keys_above(self.z, rows, columns, self.cost.limit(MARGIN))
        sizes = ops.magnitudes_at(self.z, keys)
        if self.cost.anchoring == 0.0:
            return Candidates(keys, sizes, 0.0 * sizes)
        keys, previous = ops.weighted_sum([(0.0, Entries(keys, sizes)), (1.0, self.anchor)])
        return Candidates(keys, ops.magnitudes_at(self.z, keys), previous)

    def _set_anchoring(self, error: float) -> None:
        """Keep A close to the previous iterate in the dead zone, or if Newton's method failed."""
        if self.n_steps <= FIRST_ITERATIONS:
            return
        a, b = self.potentials
        anchoring = self.cost.anchoring
        if float(a.max() + b.max()) > self.model.eta2 * self.model.eta3:
            anchoring = max(anchoring, ANCHORING)
        if error > FAILED_ERROR:
            anchoring = min(max(10.0 * anchoring, FAILED_ANCHORING), LARGEST_ANCHORING)
        if anchoring != self.cost.anchoring:
            self.cost = CouplingCost(self.model.penalty, self.cost.rho, anchoring)

    def set_weight_by_ratio(self) -> None:
        """Set rho to a share of the ratio of slopes to coefficients where A is positive."""
        candidates, values = self.last
        positive = (values > 0.0) & (candidates.keys % (self.model.n + 1) != 0)
        sizes = candidates.sizes[positive]
        C = self.cost.coefficients(sizes, values[positive])
        slopes, coefficients = (float((x**2).sum()) ** 0.5 for x in (sizes - C, C))
        ratio = self.cost.rho * slopes / max(coefficients, 1e-3 * slopes, 1e-300)
        late = self.bounds.gap <= SMALL_GAP
        self.set_weight((LATE_WEIGHT_SHARE if late else WEIGHT_SHARE) * ratio)

    def set_weight(self, new: float) -> None:
        """Change rho, by a factor of ten at most, unless it is about right."""
        old = self.cost.rho
        if old / LEAST_CHANGE <= new <= old * LEAST_CHANGE or new == 0.0:
            return
        new = min(max(new, old / 10), old * 10)
        for rows in self.blocks:  # rho (z - Y) stays the same
            self.z[rows] = self.Y[rows] + old / new * (self.z[rows] - self.Y[rows])
        self.cost = CouplingCost(self.model.penalty, new, self.cost.anchoring)
        del self.fit, self.Y, self.F  # their memory is needed for the new ones
        self._prepare_step()
        self.acceleration.restart()

    def update_bounds(self) -> None:
        """Bound the optimum from above by Y and A, and from below by C and the potentials."""
        m = self.model
        self.bounds.value = m.upper_bound(self.Y, self.A.matrix(m.n))
        self.bounds.raise_dual(self.lower_bound())

    def lower_bound(self) -> LowerBound:
        """Return the lower bound from C and the potentials. F is used as memory, and restored."""
        rho = self.cost.rho
        blocks = [(self.z[rows], self.Y[rows], self.F[rows]) for rows in self.blocks]
        for _, Y, F in blocks:  # C, in the place of F
            F[:] = F / RELAXATION + Y
        products = self.model.fit_products(self.F)
        for z, Y, F in blocks:  # G = rho (C - (2 Y - z)), which is (X - C X) X'
            F[:] = rho * (F + (z - 2 * Y))
        a, b = self.potentials
        bound = self.model.lower_bound(products, (as_array(a), as_array(b)), self.F)
        for z, Y, F in blocks:
            F[:] = RELAXATION / rho * F + RELAXATION * (Y - z)
        return bound

    def advance(self) -> None:
        """Move z to the next point."""
        self.acceleration.advance(self.z, self.F)
        if self.cost.anchoring > 0.0:
            terms = [(1.0, self.A)]
            for k, weight in self.acceleration.weights:
                after, before = self.changes[k]
                terms += [(-weight, after), (weight, before)]
            self.anchor = self.operations.weighted_sum(terms)

    def release(self) -> ArrayT:
        """Return Y, and free all other matrices."""
        Y = self.Y
        del self.fit, self.Y, self.F, self.z, self.acceleration
        return Y
