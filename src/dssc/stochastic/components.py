"""Choosing eta2 by the number of pieces it leaves."""

import numpy as np

from dssc.graph import count_components
from dssc.result import ProjectionResult
from dssc.stochastic.neighbors import LARGEST, SMALLEST, first_guess
from dssc.stochastic.problem import ProjectionProblem

FIRST_NEIGHBORS = 4
NARROWEST = 0.02  # of the bracket, in log(eta2)
STEP = 2.0


def project_to_components(
    problem: ProjectionProblem, n_components: int, *, tol: float = 1e-8, max_iter: int = 1000
) -> ProjectionResult:
    """Project with the smallest eta2 that leaves at most `n_components` connected pieces.

    The paper's remark on model selection: sparser graphs are better as long as they do not fall
    into more pieces than there are clusters. The number of pieces falls with eta2 (but for rare
    exceptions), so log(eta2) is bracketed and bisected to 2 %, each projection started at the
    last one's potentials. Where even the largest eta2 tried leaves more, as with points of
    similarity zero to all others, the last is returned.
    """
    largest = problem.similarity.largest or 1.0
    eta2 = first_guess(problem, min(FIRST_NEIGHBORS, problem.similarity.shape[0] - 1))
    low = high = None
    best: ProjectionResult | None = None
    result: ProjectionResult | None = None
    while True:
        potentials = None if result is None else result.potentials
        result = problem.solve(eta2, tol=tol, max_iter=max_iter, potentials=potentials)
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
        if not SMALLEST <= eta2 / largest <= LARGEST:
            break
    return best or result
