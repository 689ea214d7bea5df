"""Semismooth Newton for the dual of the projection on a fixed support.

In units of eta, with slacks ``z_ij = K_ij / eta - w_i - w_j``, the dual of (support_primal) is

    minimise  1/4 sum_ij [z_ij]_+^2 + sum_i m_i w_i ,    m the marginals,

convex, once differentiable and piecewise quadratic. Its gradient is ``m - row sums of [z]_+`` and
its generalised Hessian ``diag(S 1) + S``, S the pattern of positive slacks, so a Newton step costs
a few products with the entries that are positive now.
"""

from itertools import repeat
from types import ModuleType
from typing import NamedTuple

import numpy as np
from scipy import sparse

from dssc._factorising import symmetric_factor
from dssc.stochastic.interior_point import LARGEST, central_potentials
from dssc.stochastic.support import Graph

# Continuation in eta: each stage divides eta by at most RATIO, starting where slacks span about
# FIRST_SPAN units. Without it the steps needed grow like a power of max|K| / eta; with it, like its
# logarithm. A stage need not be solved well, but well enough that every piece of the pattern has as
# many rows as columns: a piece of p vertices that has not is off by one in total, so by 1 / p
# somewhere. Such a piece would have to travel far, at a later stage, to find its missing partner.
RATIO = 10.0
FIRST_SPAN = 10.0
STAGE_TOL = 1e-2
BALANCED = 0.5
STAGE_STEPS = 60
# A stage that is this close and has not come closer for so many steps has met the rounding of its
# own slacks; the next one starts from better ones.
CLOSE = 1e-3
STALLED_STEPS = 8
# Conjugate gradients stall on long, weakly joined pieces of the pattern, where a factorisation is
# cheap because such pieces are nearly trees.
CG_STEPS = 300


class DualSolution(NamedTuple):
    """Potentials in K's units, the final slacks (A is their positive part), and the steps taken."""

    potentials: np.ndarray
    slack: np.ndarray
    error: float
    n_iter: int
    n_evaluations: int


def solve_dual(
    graph: Graph,
    targets: np.ndarray,
    eta: float,
    start: np.ndarray | None,
    tol: float,
    max_iter: int,
    k: ModuleType,
) -> DualSolution:
    """Maximise the dual on `graph` until its rows sum to `targets` within `tol`.

    Every stage moves the potentials found so far into the slacks and solves for the small rest, so
    that the sums are exact to rounding of A itself and not of ``max|K| / eta``.
    """
    afresh = np.zeros(len(graph.indptr) - 1)
    stages = schedule(float(graph.values.max() - graph.values.min()), eta)
    w, stage_eta = afresh, next(stages)
    if start is not None and _plausible(start, graph.values, eta):
        w, stage_eta = start, eta
    n_iter = n_evaluations = 0
    last = CLOSE
    while True:
        steps = min(STAGE_STEPS, max_iter - n_iter)
        stage_tol = tol if stage_eta == eta else max(tol, min(STAGE_TOL, BALANCED / len(w)))
        solution = _stage(graph, targets, stage_eta, w, stage_tol, steps, k, sweep=w is afresh)
        n_iter += solution.n_iter
        n_evaluations += solution.n_evaluations
        if stage_eta == eta and (solution.error <= tol or n_iter >= max_iter):
            return solution._replace(n_iter=n_iter, n_evaluations=n_evaluations)
        if stage_eta == eta and solution.error < last / 2:
            w, last = solution.potentials, solution.error  # with the slacks computed anew
        elif solution.error > stage_tol and len(w) <= LARGEST:
            scaled = Graph(graph.indptr, graph.indices, graph.values / eta)
            w, steps = central_potentials(
                scaled, targets, solution.potentials / eta, tol, max_iter - n_iter
            )
            w *= eta
            n_iter += steps
            stage_eta = eta
        else:
            w = afresh if w is start else solution.potentials
            stage_eta = next(stages)


def _plausible(start, values, eta):
    """Tell whether potentials may be near an optimum, whose differences are at most 2 max|K| + eta.

    Larger ones would only cost digits.
    """
    return np.abs(start).max() <= 10.0 * (np.abs(values).max() + eta)


def schedule(span: float, eta: float):
    """Yield falling values of eta, and the last one for as long as it is asked for.

    `span` is the difference of the largest and the smallest similarity.
    """
    first = span / FIRST_SPAN
    if first > eta:
        n_stages = int(np.ceil(np.log(first / eta) / np.log(RATIO)))
        yield from np.geomspace(first, eta, n_stages + 1)[:-1]
    yield from repeat(eta)


def _stage(graph, targets, eta, base, tol, max_iter, k, sweep=False):
    values = np.empty_like(graph.values)
    k.slacks(*graph, base, values)
    values /= eta
    dual = _Dual(Graph(graph.indptr, graph.indices, values), targets, k)
    w = np.zeros_like(base)
    if sweep:
        w = dual.sweep(w)
    sums, counts = dual.row_sums(w)
    n_iter = stalled = 0
    best = np.inf
    swept = sweep
    while (error := np.abs(sums - targets).max()) > tol and n_iter < max_iter:
        stalled = 0 if error < best else stalled + 1
        best = min(best, error)
        if best < CLOSE and stalled >= STALLED_STEPS:
            break
        n_iter += 1
        if counts.min() == 0 and not swept:
            w = dual.sweep(w)
            sums, counts = dual.row_sums(w)
            swept = True
            continue
        swept = False
        direction = dual.newton_direction(w, sums - targets, counts)
        w, sums, counts = dual.line_search(w, direction, sums)
    slack = np.empty_like(values)
    k.slacks(*dual.graph, w, slack)
    return DualSolution(base + eta * w, slack, float(error), n_iter, dual.n_evaluations)


class _Dual:
    """The dual in units of eta, and the three ways to move on it."""

    def __init__(self, graph: Graph, targets: np.ndarray, k: ModuleType):
        self.graph = graph
        self.targets = targets
        self.k = k
        self.n = len(targets)
        self.n_evaluations = 0
        self.active = np.empty(len(graph.indices), dtype=np.int32)

    def row_sums(self, w):
        """Return the row sums of A and the number of its positive entries in each row."""
        sums, squares = np.empty(self.n), np.empty(self.n)
        counts = np.empty(self.n, dtype=np.int64)
        self.k.row_sums(*self.graph, w, sums, squares, counts)
        self.n_evaluations += 1
        return sums, counts

    def sweep(self, w):
        """Make every row's sum right with the other potentials held, then go half the way there.

        By convexity the half step never increases the dual, however far `w` is, and from zero it
        is the split of each row's simplex threshold between row and column.
        """
        thresholds = np.empty(self.n)
        self.k.row_thresholds(*self.graph, w, self.targets, thresholds)
        return (w + thresholds) / 2

    def newton_direction(self, w, residual, counts):
        """Solve the Newton system, regularised in proportion to the residual."""
        size = min(1.0, float(np.sqrt(np.mean(residual**2))))
        # The matrix is singular on bipartite pieces of the pattern; 1e-10 keeps it definite.
        diagonal = np.maximum(counts, 1) * (1.0 + max(1e-3 * size, 1e-10))
        indptr = np.concatenate([[0], np.cumsum(counts)])
        self.k.active_pattern(*self.graph, w, indptr, self.active)
        indices = self.active[: indptr[-1]]
        direction = np.empty(self.n)
        tol = max(min(0.1, size), 1e-8)
        reached, n_steps = self.k.solve_pattern(
            indptr, indices, diagonal, residual, tol, CG_STEPS, direction
        )
        self.n_evaluations += n_steps
        if reached > tol and (self.n <= 2000 or len(indices) <= 4 * self.n):
            return _factorised_solve(indptr, indices, diagonal, residual)
        return direction

    def line_search(self, w, direction, sums):
        """Move along `direction` to where the dual's slope has fallen to half or less."""

        def evaluate(step):
            trial = w + step * direction
            new_sums, counts = self.row_sums(trial)
            return _dot(direction, self.targets - new_sums), (trial, new_sums, counts)

        return search_along(evaluate, _dot(direction, self.targets - sums))


def search_along(evaluate, slope_start: float):
    """Return what was found at a step where the slope has fallen to half or less.

    ``evaluate(step)`` gives the slope there and what to return. It looks at slopes only: near the
    optimum differences of the dual drown in rounding.
    """
    low, low_slope = 0.0, slope_start
    high, high_slope = np.inf, np.inf
    step = 1.0
    for _ in range(40):
        slope, found = evaluate(step)
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
    return found


def _dot(x, y):
    # Not BLAS, whose result depends on the number of its threads.
    return float(np.sum(x * y))


def _factorised_solve(indptr, indices, diagonal, rhs):
    n = len(rhs)
    pattern = sparse.csr_array((np.ones(len(indices)), indices, indptr), shape=(n, n))
    matrix = (pattern + sparse.diags_array(diagonal)).tocsc()
    return symmetric_factor(matrix).solve(rhs)
