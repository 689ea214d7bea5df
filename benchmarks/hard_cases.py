"""What makes Newton robust: the hard cases with each of its safeguards taken away.

    python -m benchmarks.hard_cases [--n N]

Every kind of problem of the tests' judge, at eta2 from 1e-1 to 3e-7 of max|K| (below that float64
owes nothing): how many end certified to 1e-8, and the mean and largest number of Newton steps.
"""

import argparse
import time
import warnings
from contextlib import contextmanager

import numpy as np

from dssc.stochastic import ProjectionProblem, newton
from tests.judge import KINDS, as_dense, random_problem

RATIOS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 3e-7)


@contextmanager
def changed(**constants):
    """Set constants of the Newton module for a while."""
    kept = {name: getattr(newton, name) for name in constants}
    try:
        for name, value in constants.items():
            setattr(newton, name, value)
        yield
    finally:
        for name, value in kept.items():
            setattr(newton, name, value)


VARIANTS = {
    "as it is": {},
    "eta2 divided by 3 per stage": {"STAGE_RATIO": 3.0},
    "eta2 divided by 100 per stage": {"STAGE_RATIO": 100.0},
    "no continuation in eta2": {"FIRST_SPAN": np.inf, "STAGE_STEPS": 1000},
    "pieces left unbalanced (stages to .1)": {"STAGE_TOL": 0.1, "BALANCED": np.inf},
    "conjugate gradients only": {"CG_STEPS": 10_000},
    "slacks not computed again when stalled": {"STALLED_STEPS": 10**9},
}


def measure(n):
    """Solve every kind at every ratio; return the numbers of one row."""
    steps, certified, start = [], 0, time.perf_counter()
    for kind in sorted(KINDS):
        K = random_problem(np.random.default_rng(0), kind, n)
        largest = np.abs(as_dense(K)).max() or 1.0
        for ratio in RATIOS:
            result = ProjectionProblem.of_matrix(K).solve(ratio * largest)
            steps.append(result.n_iter)
            certified += result.converged
    return certified, len(steps), np.mean(steps), max(steps), time.perf_counter() - start


def main(n):
    """Print the table."""
    warnings.simplefilter("ignore")
    ProjectionProblem.of_matrix(np.random.default_rng(0).random((300, 300))).solve(0.01)
    print(f"| variant (n = {n}) | certified | mean steps | most steps | seconds |")
    print("|---|---|---|---|---|")
    for name, constants in VARIANTS.items():
        with changed(**constants):
            certified, total, mean, most, seconds = measure(n)
        print(
            f"| {name} | {certified} of {total} | {mean:.0f} | {most} | {seconds:.1f} |", flush=True
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--n", type=int, default=300)
    main(parser.parse_args().n)
