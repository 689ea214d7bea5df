"""Semismooth Newton for the dual of the projection, on a device.

The method of :mod:`dssc.stochastic.newton`, over the same kind of graph.
"""

from typing import NamedTuple

import torch

from dssc.gpu.conjugate_gradients import ConjugateGradients
from dssc.gpu.graph import DeviceGraph
from dssc.gpu.sums import kernels_for
from dssc.stochastic.newton import (
    BALANCED,
    CG_STEPS,
    CLOSE,
    STAGE_STEPS,
    STAGE_TOL,
    STALLED_STEPS,
    search_along,
)
from dssc.stochastic.newton import schedule as stages


class DeviceSolution(NamedTuple):
    """Potentials in the units of K, final slacks in units of eta, and what they cost."""

    potentials: torch.Tensor
    slack: torch.Tensor
    error: float
    n_iter: int
    n_evaluations: int


def solve_dual(graph: DeviceGraph, eta: float, start, tol: float, max_iter: int) -> DeviceSolution:
    """Maximise the dual on `graph` until all rows sum to one within `tol`."""
    n = len(graph.indptr) - 1
    afresh = graph.values.new_zeros(n)
    schedule = stages(float(graph.values.max()) - float(graph.values.min()), eta)
    w, stage_eta = (afresh, next(schedule)) if start is None else (start, eta)
    n_iter = n_evaluations = 0
    while True:
        steps = min(STAGE_STEPS, max_iter - n_iter)
        stage_tol = tol if stage_eta == eta else max(tol, min(STAGE_TOL, BALANCED / n))
        solution = _stage(graph, stage_eta, w, stage_tol, steps, sweep=w is afresh)
        n_iter += solution.n_iter
        n_evaluations += solution.n_evaluations
        if stage_eta == eta and (solution.error <= tol or n_iter >= max_iter):
            return solution._replace(n_iter=n_iter, n_evaluations=n_evaluations)
        w = afresh if w is start else solution.potentials
        stage_eta = next(schedule)


def _stage(graph, eta, base, tol, max_iter, sweep):
    dual = _Dual(graph._replace(values=graph.slack(base) / eta))
    w = torch.zeros_like(base)
    if sweep:
        w = dual.sweep(w)
    sums, counts, positive = dual.evaluate(w)
    n_iter = stalled = 0
    best, swept = torch.inf, sweep
    while (error := float((sums - 1.0).abs().max())) > tol and n_iter < max_iter:
        stalled = 0 if error < best else stalled + 1
        best = min(best, error)
        if best < CLOSE and stalled >= STALLED_STEPS:
            break
        n_iter += 1
        if not swept and bool((counts == 0).any()):
            w = dual.sweep(w)
            sums, counts, positive = dual.evaluate(w)
            swept = True
            continue
        swept = False
        direction = dual.newton_direction(positive, sums - 1.0, counts)
        w, (sums, counts, positive) = dual.line_search(w, direction, sums)
    slack = dual.graph.slack(w)
    return DeviceSolution(base + eta * w, slack, error, n_iter, dual.n_evaluations)


class _Dual:
    """The dual in units of eta, and the three ways to move on it."""

    def __init__(self, graph: DeviceGraph):
        self.graph = graph
        self.kernels = kernels_for(graph.values.device)
        self.n_evaluations = 0

    def evaluate(self, w):
        """Return the row sums of A, the numbers of its positive entries, and which these are."""
        self.n_evaluations += 1
        return self.kernels.positive_parts(self.graph, w)

    def sweep(self, w):
        """Make every row's sum right with the other potentials held, then go half the way there."""
        graph = self.graph
        entries = graph.values - w[graph.columns]
        t = torch.segment_reduce(entries, "max", offsets=graph.indptr) - 1.0
        counts = torch.zeros_like(t)
        while True:  # Michelot's iteration: t can only rise, and ends exactly
            excess = entries - t[graph.rows]
            above = (excess > 0).double()
            total, now = graph.row_sums(excess * above), graph.row_sums(above)
            if torch.equal(now, counts):
                return (w + t) / 2
            counts = now
            t = torch.where(total > 1.0, t + (total - 1.0) / now, t)

    def newton_direction(self, positive, residual, counts):
        """Solve the Newton system, regularised in proportion to the residual."""
        size = min(1.0, float(residual.square().mean().sqrt()))
        diagonal = counts.clamp(min=1.0) * (1.0 + max(1e-3 * size, 1e-10))
        multiply = self.kernels.newton_product(self.graph, positive, diagonal)
        tol = max(min(0.1, size), 1e-8)
        gradients = ConjugateGradients(multiply, diagonal)
        direction, n_steps = gradients.solve(residual, tol, CG_STEPS)
        self.n_evaluations += n_steps
        return direction

    def line_search(self, w, direction, sums):
        """Move along `direction` to where the dual's slope has fallen to half or less."""

        def evaluate(step):
            trial = w + step * direction
            found = self.evaluate(trial)
            return float(direction @ (1.0 - found[0])), (trial, found)

        return search_along(evaluate, float(direction @ (1.0 - sums)))
