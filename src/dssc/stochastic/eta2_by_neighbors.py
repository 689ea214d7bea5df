"""Choosing eta2 by the number of neighbours it gives each point."""

from typing import NamedTuple, Self

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
# Logarithm of the number of neighbours that all rows together have, relative to rows alone, times
# the root of this number. It is the median over 30 data sets, three eta1, and 6 to 24 neighbours.
MORE_TOGETHER = 0.54
# Number of trials after which brackets are halved instead of interpolated.
INTERPOLATED_TRIALS = 6
# eta2 grows about like this power of the count. Two trials show the power, which is limited.
USUAL_POWER, LARGEST_POWER = 1.5, 4.0
# Least step in log(eta2) towards a bracket, times the number of trials: a count may hardly change.
LEAST_STEP = 0.02
# Largest step in log(eta2) towards a bracket.
LARGEST_STEP = np.log(4.0)
# Width of the bracket in log(eta2) at which the search ends: a count may jump over its target.
NARROWEST = 1e-4


class Trial(NamedTuple):
    """One eta2: its logarithm, the count, and the logarithm of this relative to the one wanted."""

    log_eta2: float
    n_neighbors: float
    excess: float

    @classmethod
    def of(cls, result: ProjectionResult, n_neighbors: float) -> Self:
        """Return the trial that a projection is."""
        count = mean_neighbors(result.plan)
        return cls(float(np.log(result.eta2)), count, np.log((count + 1) / (n_neighbors + 1)))


def project_to_neighbors(
    problem: Projectable,
    n_neighbors: float,
    *,
    tol: float = 1e-8,
    max_iter: int = 1000,
    near: ProjectionResult | None = None,
    progress: Progress | None = None,
) -> ProjectionResult:
    """Project with the eta2 at which a point has about `n_neighbors` neighbours.

    A neighbour is an entry of A off the diagonal above 1e-9, and the count is the mean over rows.
    It grows with eta2, about like a power of it, so log(eta2) is bracketed and interpolated. Each
    projection starts from the potentials of the previous one. Where no eta2 gives the count, as
    with duplicate points, the nearest count is taken. `near` is a projection of the same problem
    with another count to begin with, if there is one.
    """
    progress = progress or Progress()
    low = high = potentials = None
    trials: list[Trial] = []
    if near is None:
        eta2 = first_guess(problem, n_neighbors, progress)
    else:
        trials, potentials = [Trial.of(near, n_neighbors)], near.potentials
        eta2 = float(np.exp(_outside(trials)))
    best, best_excess = None, np.inf
    for _ in range(MOST_TRIALS):
        result = problem.solve(
            eta2, tol=tol, max_iter=max_iter, potentials=potentials, progress=progress
        )
        potentials = result.potentials
        trial = Trial.of(result, n_neighbors)
        trials.append(trial)
        if abs(trial.excess) < best_excess:
            best, best_excess = result, abs(trial.excess)
        if abs(trial.n_neighbors - n_neighbors) <= CLOSE_ENOUGH * n_neighbors:
            break
        low, high = (trial, high) if trial.n_neighbors < n_neighbors else (low, trial)
        if low and high and high.log_eta2 - low.log_eta2 < NARROWEST:
            break
        eta2 = float(np.exp(_next(trials, low, high)))
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
    ``eta2 = sum of (value - next)`` over them. The median over rows is taken. In the projection
    of all rows, points get more neighbours, because they are neighbours of others, too. So eta2 is
    smaller.
    """
    n_values = min(int(np.ceil(n_neighbors)) + 1, problem.shape[0] - 1)
    top = problem.largest_entries(n_values, progress)
    spread = float(np.median((top - top[:, -1:]).sum(axis=1)))
    spread *= np.exp(-USUAL_POWER * MORE_TOGETHER / n_neighbors**0.5)
    return max(spread, SMALLEST_ETA2 * problem.largest) or 1.0


def _next(trials: list[Trial], low: Trial | None, high: Trial | None) -> float:
    """Return the next log(eta2) to try, from the trials on either side of the target."""
    if low is None or high is None:
        return _outside(trials)
    share = 0.5
    if len(trials) <= INTERPOLATED_TRIALS and high.excess > low.excess:
        share = low.excess / (low.excess - high.excess)
    return low.log_eta2 + float(np.clip(share, 0.1, 0.9)) * (high.log_eta2 - low.log_eta2)


def _outside(trials: list[Trial]) -> float:
    """Return the next log(eta2) where all trials are on the same side of the target."""
    last, power = trials[-1], USUAL_POWER
    if len(trials) > 1:
        change, of_excess = np.subtract(last, trials[-2])[[0, 2]]
        power = min(change / of_excess, LARGEST_POWER) if change * of_excess > 0 else power
    step = np.clip(power * abs(last.excess), LEAST_STEP * len(trials), LARGEST_STEP)
    return last.log_eta2 - float(np.copysign(step, last.excess))
