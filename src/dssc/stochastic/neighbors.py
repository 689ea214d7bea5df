"""Choosing eta2 by the number of neighbours it gives a point."""

import numpy as np
from scipy import sparse

from dssc.result import ProjectionResult
from dssc.stochastic.problem import ProjectionProblem

POSITIVE = 1e-9
CLOSE_ENOUGH = 0.02  # relative to the number asked for
MOST_TRIALS = 40
SMALLEST, LARGEST = 1e-6, 1e9  # eta2 relative to max|K|: well within what float64 resolves
INTERPOLATED = 6  # trials after which brackets are halved
STEEPEST = 2.0  # power of the count that eta2 follows, at most: outside a bracket
NARROWEST = 1e-4  # of the bracket, in log(eta2): a count that jumps cannot be met exactly


def project_to_neighbors(
    problem: ProjectionProblem, n_neighbors: float, *, tol: float = 1e-8, max_iter: int = 1000
) -> ProjectionResult:
    """Project with the eta2 at which a point has about `n_neighbors` neighbours.

    A neighbour is an entry of A off the diagonal above 1e-9, and the count is the mean over rows.
    It grows with eta2, about like a power of it, so log(eta2) is bracketed and interpolated, each
    projection started at the last one's potentials. Where no eta2 gives the count, as with
    duplicate points, the nearest is taken.
    """
    eta2 = first_guess(problem, n_neighbors)
    low = high = potentials = None
    trials = []
    for _ in range(MOST_TRIALS):
        result = problem.solve(eta2, tol=tol, max_iter=max_iter, potentials=potentials)
        potentials = result.potentials
        count = mean_neighbors(result.plan)
        trials.append((abs(np.log((count + 1) / (n_neighbors + 1))), result))
        if abs(count - n_neighbors) <= CLOSE_ENOUGH * n_neighbors:
            break
        found = np.log(eta2), np.log((count + 1) / (n_neighbors + 1))
        low, high = (found, high) if count < n_neighbors else (low, found)
        if low and high and high[0] - low[0] < NARROWEST:
            break
        eta2 = float(np.exp(_next(low, high, halve=len(trials) > INTERPOLATED)))
        if not SMALLEST <= eta2 / (problem.similarity.largest or 1.0) <= LARGEST:
            break
    return min(trials, key=lambda trial: trial[0])[1]


def mean_neighbors(plan) -> float:
    """Return the mean number of entries off the diagonal above 1e-9 in a row."""
    values = plan.data if sparse.issparse(plan) else plan
    n_diagonal = np.count_nonzero(plan.diagonal() > POSITIVE)
    return (np.count_nonzero(values > POSITIVE) - n_diagonal) / plan.shape[0]


def first_guess(problem: ProjectionProblem, n_neighbors: float) -> float:
    """Return the eta2 at which projecting each row alone gives `n_neighbors` positive entries.

    With a row's similarities sorted, the p largest are positive and the next one is at zero when
    ``eta2 = sum of (value - next)`` over them. The median over rows is taken.
    """
    n_values = min(int(np.ceil(n_neighbors)) + 1, problem.similarity.shape[0] - 1)
    top = problem.similarity.largest_entries(n_values)
    spread = (top - top[:, -1:]).sum(axis=1)
    largest = problem.similarity.largest
    return max(float(np.median(spread)), SMALLEST * largest) or 1.0


def _next(low, high, halve):
    """Return where to look next, from (log eta2, log excess of the count) on either side."""
    if low is None or high is None:
        at, excess = low or high
        step = float(np.clip(STEEPEST * abs(excess), 0.1, np.log(4.0)))
        return at + step if high is None else at - step
    share = 0.5 if halve else low[1] / (low[1] - high[1]) if high[1] > low[1] else 0.5
    return low[0] + float(np.clip(share, 0.1, 0.9)) * (high[0] - low[0])
