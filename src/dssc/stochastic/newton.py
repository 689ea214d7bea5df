"""Semismooth Newton for the dual of the projection on a fixed support, on any engine.

The dual and its derivatives are in :mod:`dssc.stochastic.dual`. A Newton step costs a few products
with the entries that are positive now.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import repeat
from typing import Any, NamedTuple, TypeVar

import numpy as np

from dssc._devices import as_array
from dssc.stochastic.dual import Dual, DualPoint
from dssc.stochastic.interior_point import MOST_VERTICES, central_potentials

# Continuation: each stage divides eta by at most this factor. Without stages the number of steps
# grows like a power of max|K| / eta; with them it grows like the logarithm.
STAGE_RATIO = 10.0
# In the first stage the similarities span this many units of eta.
FIRST_SPAN = 10.0
# An early stage may leave this error in a row sum ...
STAGE_TOL = 1e-2
# ... and at most this share of a row sum divided by the number of vertices. A piece of p vertices
# with more rows than columns is wrong by one in total, so by 1 / p somewhere. Such a piece would
# have to travel far, at a later stage, to find its missing partner.
BALANCED = 0.5
# Most Newton steps of one stage.
STAGE_STEPS = 60
# A stage with an error below this that stalls has reached the rounding of its own slacks. The next
# stage computes better ones.
CLOSE = 1e-3
# Steps without a smaller error after which a stage counts as stalled.
STALLED_STEPS = 8
# The sums are exact up to this times (max|K| / eta + number of vertices), at best ...
ROUNDING = 10 * np.finfo(float).eps
# ... which counts as reached after this many solves of the last stage without half the error.
VAIN_ROUNDS = 2
# Most steps of conjugate gradients. They stall on long, weakly joined pieces of the pattern, where
# a factorisation is cheap because such pieces are nearly trees.
CG_STEPS = 300
# Patterns with at most this many vertices, or this many entries per vertex, are factorised.
FACTORISED_VERTICES, FACTORISED_DEGREE = 2000, 4

Evaluated = TypeVar("Evaluated")


class DualSolution(NamedTuple):
    """Potentials in the units of K, the final slacks (A is their positive part), and the cost."""

    potentials: Any
    slack: Any
    error: float
    n_iter: int
    n_evaluations: int


def solve_dual(dual: Dual, eta: float, start: Any, tol: float, max_iter: int) -> DualSolution:
    """Maximise the dual until the rows of A sum to their targets within `tol`.

    Every stage moves the potentials of the previous one into the slacks and solves for the small
    rest, so that the sums are exact to rounding of A itself and not of ``max|K| / eta``. A stage
    that Newton's method cannot finish is handed to an interior-point method.

    Parameters
    ----------
    dual : Dual
        The problem, with similarities in the units of K.
    eta : float
        Regularisation.
    start : vector or None
        Potentials to start from, in the units of K.
    tol : float
        Largest error of a row sum.
    max_iter : int
        Most Newton steps.
    """
    lowest, highest = dual.similarity_range()
    largest = max(abs(lowest), abs(highest))
    etas = schedule(highest - lowest, eta)
    from_start = start is not None and _is_plausible(start, largest, eta)
    from_zero = not from_start
    w, stage_eta = (start, eta) if from_start else (dual.zeros(), next(etas))
    n_iter = n_evaluations = 0
    best, rounding = CLOSE, ROUNDING * (largest / eta + dual.n_vertices)
    closest, n_vain = None, 0
    while True:
        steps = min(STAGE_STEPS, max_iter - n_iter)
        balanced = max(tol, min(STAGE_TOL, BALANCED / dual.n_vertices))
        stage_tol = tol if stage_eta == eta else balanced
        solution = _solve_stage(dual, stage_eta, w, stage_tol, steps, sweep_first=from_zero)
        n_iter += solution.n_iter
        n_evaluations += solution.n_evaluations
        if stage_eta == eta:
            n_vain = 0 if closest is None or solution.error < closest.error / 2 else n_vain + 1
            if closest is None or solution.error < closest.error:
                closest = solution
            is_at_rounding = n_vain >= VAIN_ROUNDS and closest.error <= rounding
            if closest.error <= tol or n_iter >= max_iter or is_at_rounding:
                return closest._replace(n_iter=n_iter, n_evaluations=n_evaluations)
        from_zero = False
        if stage_eta == eta and solution.error < best / 2:
            w, best = solution.potentials, solution.error  # with the slacks computed again
        elif solution.error > stage_tol and dual.n_vertices <= MOST_VERTICES:
            w, steps = _central_potentials(dual, eta, solution.potentials, tol, max_iter - n_iter)
            n_iter += steps
            stage_eta = eta
        else:
            from_zero = from_start  # the given start misled: begin again without it
            w = dual.zeros() if from_start else solution.potentials
            stage_eta = next(etas)
        from_start = False


def schedule(span: float, eta: float) -> Iterator[float]:
    """Yield falling values of eta, then the last one for as long as the caller asks.

    `span` is the difference of the largest and the smallest similarity.
    """
    first = span / FIRST_SPAN
    if first > eta:
        n_stages = int(np.ceil(np.log(first / eta) / np.log(STAGE_RATIO)))
        yield from np.geomspace(first, eta, n_stages + 1)[:-1]
    yield from repeat(eta)


def _is_plausible(start: Any, largest: float, eta: float) -> bool:
    """Return whether potentials may be near an optimum.

    There they differ by at most ``2 max|K| + eta``. Larger ones would only cost digits.
    """
    return float(abs(start).max()) <= 10.0 * (largest + eta)


def _central_potentials(
    dual: Dual, eta: float, potentials: Any, tol: float, max_iter: int
) -> tuple[Any, int]:
    """Return nearly optimal potentials by an interior-point method, and its number of steps."""
    host = dual.on_host()
    scaled = host.graph._replace(values=host.graph.values / eta)
    start = as_array(potentials) / eta
    w, n_steps = central_potentials(scaled, host.targets, host.vertex_weights, start, tol, max_iter)
    w *= eta
    return dual.from_host(w), n_steps


def _solve_stage(
    dual: Dual, eta: float, base: Any, tol: float, max_iter: int, sweep_first: bool
) -> DualSolution:
    """Solve for what is missing from the potentials `base`, in units of eta."""
    steps = _Steps(dual.relative_to(base, eta))
    w = dual.zeros()
    if sweep_first:
        w = steps.swept(w)
    point = steps.evaluate(w)
    n_iter = stalled = 0
    best, closest, has_swept = math.inf, point, sweep_first
    while (error := float(abs(point.sums - dual.targets).max())) > tol and n_iter < max_iter:
        stalled = 0 if error < best else stalled + 1
        if error < best:
            best, closest = error, point
        if best < CLOSE and stalled >= STALLED_STEPS:
            error, point = best, closest  # what followed was rounding
            break
        n_iter += 1
        has_swept = not has_swept and bool(point.counts.min() == 0)
        if has_swept:
            point = steps.evaluate(steps.swept(point.potentials))
        else:
            point = steps.newton_step(point)
    slack = steps.dual.slacks(point.potentials)
    return DualSolution(base + eta * point.potentials, slack, error, n_iter, steps.n_evaluations)


@dataclass
class _Steps:
    """The two ways to move on the dual, and how often its entries were read."""

    dual: Dual
    n_evaluations: int = 0

    def evaluate(self, w: Any) -> DualPoint:
        """Return the dual at some potentials."""
        self.n_evaluations += 1
        return self.dual.at(w)

    def swept(self, w: Any) -> Any:
        """Return potentials half way to those that make every row's sum right on its own.

        By convexity the half step never increases the dual, however far `w` is from the optimum.
        From zero it splits each row's simplex threshold between row and column.
        """
        return (w + self.dual.row_thresholds(w)) / 2

    def newton_step(self, point: DualPoint) -> DualPoint:
        """Return the point where the slope along Newton's direction has fallen to half or less."""
        direction = self._direction(point)
        targets, dot = self.dual.targets, self.dual.dot

        def slope_at(step: float) -> tuple[float, DualPoint]:
            trial = self.evaluate(point.potentials + step * direction)
            return dot(direction, targets - trial.sums), trial

        return search_along(slope_at, dot(direction, targets - point.sums))

    def _direction(self, point: DualPoint) -> Any:
        """Solve the Newton system, regularised in proportion to the residual."""
        residual = point.sums - self.dual.targets
        size = min(1.0, math.sqrt(float((residual**2).mean())))
        # The matrix is singular on bipartite pieces of the pattern; 1e-10 keeps it definite.
        diagonal = self.dual.diagonal(point) * (1.0 + max(1e-3 * size, 1e-10))
        tol = max(min(0.1, size), 1e-8)
        x, reached, n_products = self.dual.conjugate_gradients(
            point, diagonal, residual, tol, CG_STEPS
        )
        self.n_evaluations += n_products
        if reached > tol and self._is_factorisable(point):
            return self.dual.factorised_solve(point, diagonal, residual)
        return x

    def _is_factorisable(self, point: DualPoint) -> bool:
        n = self.dual.n_vertices
        return n <= FACTORISED_VERTICES or int(point.counts.sum()) <= FACTORISED_DEGREE * n


def search_along(
    slope_at: Callable[[float], tuple[float, Evaluated]], slope_start: float
) -> Evaluated:
    """Return what was evaluated at a step where the slope has fallen to half or less.

    ``slope_at(step)`` gives the slope there and what to return. The search looks at slopes only:
    near the optimum differences of the dual are lost in rounding.
    """
    low, low_slope = 0.0, slope_start
    high, high_slope = np.inf, np.inf
    step = 1.0
    for _ in range(40):
        slope, evaluated = slope_at(step)
        if abs(slope) <= 0.5 * abs(slope_start) or (slope < 0.0 and step >= 8.0):
            break
        if slope < 0.0:
            low, low_slope = step, slope
        else:
            high, high_slope = step, slope
        if high == np.inf:
            step *= 2.0
        else:
            fraction = low_slope / (low_slope - high_slope)
            step = low + (high - low) * min(max(fraction, 0.1), 0.9)
    return evaluated
