"""Choosing eta2 by the number of connected components it leaves."""

import numpy as np

from dssc._progress import Progress
from dssc.graph import count_components
from dssc.result import ProjectionResult
from dssc.stochastic.eta2_by_neighbors import LARGEST_ETA2, SMALLEST_ETA2, first_guess
from dssc.stochastic.projectable import Projectable

# Neighbours per point of the first eta2 tried.
FIRST_NEIGHBORS = 4
# Width of the bracket in log(eta2) at which the search ends.
NARROWEST = 0.02
# Factor between values of eta2 until both sides of the bracket are known.
STEP = 2.0


def project_to_components(
    problem: Projectable,
    n_components: int,
    *,
    tol: float = 1e-8,
    max_iter: int = 1000,
    progress: Progress | None = None,
) -> ProjectionResult:
    """Project with the smallest eta2 that leaves at most `n_components` connected components.

    The paper's remark on model selection: sparser graphs are better as long as they do not fall
    into more components than there are clusters. The number of components falls with eta2 (with
    rare exceptions), so log(eta2) is bracketed and bisected to 2 %, and each projection starts from
    the potentials of the previous one. Where even the largest eta2 tried leaves more components,
    as with points of similarity zero to all others, the last projection is returned.
    """
    progress = progress or Progress()
    largest = problem.largest or 1.0
    eta2 = first_guess(problem, min(FIRST_NEIGHBORS, problem.shape[0] - 1), progress)
    low = high = potentials = None
    best: ProjectionResult | None = None
    while True:
        result = problem.solve(
            eta2, tol=tol, max_iter=max_iter, potentials=potentials, progress=progress
        )
        potentials = result.potentials
        if count_components(result.plan) <= n_components:
            best, high = result, eta2
        else:
            low = eta2
        if high is None:
            eta2 *= STEP
        elif low is None:
            eta2 /= STEP
        elif np.log(high / low) <= NARROWEST:
            break
        else:
            eta2 = float(np.sqrt(low * high))
        if not SMALLEST_ETA2 <= eta2 / largest <= LARGEST_ETA2:
            break
    return best or result
