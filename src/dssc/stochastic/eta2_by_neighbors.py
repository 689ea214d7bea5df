"""Choosing eta2 by the number of neighbours it gives each point."""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from dssc._progress import Progress
from dssc._typing import Matrix
from dssc.result import ProjectionResult
from dssc.stochastic.projectable import Projectable

# An entry of A above this is a neighbour.
POSITIVE = 1e-9
# Relative difference from the number asked for at which the search ends.
CLOSE_ENOUGH = 0.02
# Most values of eta2 that are tried.
MOST_TRIALS = 40
# Range of eta2 relative to max|K|: well within what float64 resolves.
SMALLEST_ETA2, LARGEST_ETA2 = 1e-6, 1e9
# Number of trials after which brackets are halved instead of interpolated.
INTERPOLATED_TRIALS = 6
# Outside a bracket eta2 is assumed to grow at most like this power of the count.
STEEPEST = 2.0
# Width of the bracket in log(eta2) at which the search ends: a count may jump over its target.
NARROWEST = 1e-4


class Trial(NamedTuple):
    """One eta2: its logarithm, and the logarithm of its count relative to the one asked for."""

    log_eta2: float
    excess: float


def project_to_neighbors(
    problem: Projectable,
    n_neighbors: float,
    *,
    tol: float = 1e-8,
    max_iter: int = 1000,
    progress: Progress | None = None,
) -> ProjectionResult:
    """Project with the eta2 at which a point has about `n_neighbors` neighbours.

    A neighbour is an entry of A off the diagonal above 1e-9, and the count is the mean over rows.
    It grows with eta2, about like a power of it, so log(eta2) is bracketed and interpolated. Each
    projection starts from the potentials of the previous one. Where no eta2 gives the count, as
    with duplicate points, the nearest count is taken.
    """
    progress = progress or Progress()
    eta2 = first_guess(problem, n_neighbors, progress)
    low = high = potentials = None
    best, best_excess = None, np.inf
    for n_trials in range(1, MOST_TRIALS + 1):
        result = problem.solve(
            eta2, tol=tol, max_iter=max_iter, potentials=potentials, progress=progress
        )
        potentials = result.potentials
        count = mean_neighbors(result.plan)
        trial = Trial(np.log(eta2), np.log((count + 1) / (n_neighbors + 1)))
        if abs(trial.excess) < best_excess:
            best, best_excess = result, abs(trial.excess)
        if abs(count - n_neighbors) <= CLOSE_ENOUGH * n_neighbors:
            break
        low, high = (trial, high) if count < n_neighbors else (low, trial)
        if low and high and high.log_eta2 - low.log_eta2 < NARROWEST:
            break
        eta2 = float(np.exp(_next(low, high, halve=n_trials > INTERPOLATED_TRIALS)))
        if not SMALLEST_ETA2 <= eta2 / (problem.largest or 1.0) <= LARGEST_ETA2:
            break
    assert best is not None  # the first trial is better than none
    return best


def mean_neighbors(plan: Matrix) -> float:
    """Return the mean number of entries per row that are off the diagonal and above 1e-9."""
    values = plan.data if sparse.issparse(plan) else plan
    n_diagonal = np.count_nonzero(plan.diagonal() > POSITIVE)
    return float((np.count_nonzero(values > POSITIVE) - n_diagonal) / plan.shape[0])


def first_guess(problem: Projectable, n_neighbors: float, progress: Progress) -> float:
    """Return the eta2 at which projecting each row alone gives `n_neighbors` positive entries.

    With a row's similarities sorted, the p largest are positive and the next one is at zero when
    ``eta2 = sum of (value - next)`` over them. The median over rows is taken.
    """
    n_values = min(int(np.ceil(n_neighbors)) + 1, problem.shape[0] - 1)
    top = problem.largest_entries(n_values, progress)
    spread = (top - top[:, -1:]).sum(axis=1)
    return max(float(np.median(spread)), SMALLEST_ETA2 * problem.largest) or 1.0


def _next(low: Trial | None, high: Trial | None, halve: bool) -> float:
    """Return the next log(eta2) to try, from the trials on either side of the target."""
    if low is None or high is None:
        only = low or high
        assert only is not None  # a trial comes first
        step = float(np.clip(STEEPEST * abs(only.excess), 0.1, np.log(4.0)))
        return only.log_eta2 + step if high is None else only.log_eta2 - step
    share = 0.5
    if not halve and high.excess > low.excess:
        share = low.excess / (low.excess - high.excess)
    return low.log_eta2 + float(np.clip(share, 0.1, 0.9)) * (high.log_eta2 - low.log_eta2)
