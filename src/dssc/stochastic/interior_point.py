"""An interior-point method for the projection on a fixed support, where Newton's method is slow.

Marginals of very different sizes cut the pattern of positive entries into pieces whose masses do
not match. Each piece has to travel its own distance, but Newton's step length is common to all of
them, so the shortest distance limits it. A path through the interior has no pieces: with slacks s
of ``x >= 0``,

    x_ij = K_ij / eta - w_i - w_j + s_ij,   sum_j x_ij = m_i,   x_ij s_ij = mu -> 0 ,

every step solves one system with the matrix ``diag(T 1) + T``, ``T_ij = x_ij / (x_ij + s_ij)``. If
vertex i counts as p_i copies of itself, sums count ``p_i p_j x_ij``, and T has entries
``p_i p_j x_ij / (x_ij + s_ij)``.
"""

import numpy as np
from scipy import sparse

from dssc._factorising import symmetric_factor
from dssc._typing import Array
from dssc.stochastic.support import Graph

# Most steps of the method.
MAX_STEPS = 100
# Steps without a smaller residual after which rounding has stopped the method.
STALLED_STEPS = 8
# Share of the way to the boundary that a step takes.
TO_BOUNDARY = 0.99
# Most vertices for which one factorisation per step is affordable.
MOST_VERTICES = 5000


def central_potentials(
    graph: Graph, targets: Array, weights: Array, w: Array, tol: float, max_iter: int
) -> tuple[Array, int]:
    """Return nearly optimal potentials of the dual in units of eta, and the steps taken from `w`.

    Mehrotra's predictor and corrector, until sums and complementarity are within `tol`, or rounding
    allows no more. A vertex counts as often as its weight says.
    """
    rows = np.repeat(np.arange(len(w)), np.diff(graph.indptr))
    columns = graph.indices
    copies = weights[rows] * weights[columns]
    slack = graph.values - w[rows] - w[columns]
    least = targets.mean() / np.diff(graph.indptr).mean()
    x, s = np.maximum(slack, least), np.maximum(-slack, least)
    w = w.copy()
    n_iter = n_stalled = 0
    smallest = np.inf
    while n_iter < min(MAX_STEPS, max_iter):
        missing = weights * targets - np.bincount(rows, copies * x, minlength=len(w))
        off = graph.values - w[rows] - w[columns] + s - x
        mu = float(np.mean(x * s))
        residual = max(np.abs(missing / weights).max(), np.abs(off).max(), mu)
        n_stalled = 0 if residual < smallest else n_stalled + 1
        smallest = min(smallest, residual)
        if residual <= tol or n_stalled >= STALLED_STEPS:
            break
        n_iter += 1
        system = _System(graph, rows, x / (x + s), copies)
        dw, dx, ds = system.step(missing, off, -x * s, x, s)
        affine = float(np.mean((x + _step_length(x, dx) * dx) * (s + _step_length(s, ds) * ds)))
        centre = (affine / mu) ** 3 * mu
        dw, dx, ds = system.step(missing, off, centre - x * s - dx * ds, x, s)
        length = TO_BOUNDARY * min(_step_length(x, dx), _step_length(s, ds))
        w, x, s = w + length * dw, x + length * dx, s + length * ds
    return w, n_iter


class _System:
    """The linear system of one step, factorised."""

    def __init__(self, graph: Graph, rows: Array, shares: Array, copies: Array):
        n = len(graph.indptr) - 1
        self.rows, self.columns, self.shares, self.copies = rows, graph.indices, shares, copies
        weights = copies * shares
        diagonal = np.bincount(rows, weights, minlength=n)
        # Singular along bipartite pieces, whose potentials may be shifted freely.
        matrix = sparse.csr_array((weights, graph.indices, graph.indptr), shape=(n, n))
        matrix = matrix + sparse.diags_array(diagonal * (1.0 + 1e-13))
        self.factor = symmetric_factor(matrix)

    def step(
        self, missing: Array, off: Array, product: Array, x: Array, s: Array
    ) -> tuple[Array, Array, Array]:
        """Return the changes of w, x and s that cancel the three residuals to first order."""
        free = self.shares * (off + product / x)
        total = np.bincount(self.rows, self.copies * free, minlength=len(missing))
        dw = self.factor.solve(total - missing)
        dx = free - self.shares * (dw[self.rows] + dw[self.columns])
        return dw, dx, (product - s * dx) / x


def _step_length(x: Array, dx: Array) -> float:
    """Return the longest step of at most one that keeps x nonnegative."""
    falling = dx < 0
    return min(1.0, float(np.min(-x[falling] / dx[falling], initial=np.inf)))
