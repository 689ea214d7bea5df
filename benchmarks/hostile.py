"""The campaign: a frozen corpus of hostile problems, judged in extended precision.

    DSSC_DATA=folder python -m benchmarks.hostile [--peers] [--family NAME] [--worst N]

Every problem of `benchmarks.hostile_corpus`, and similarities of real images (digits; ORL and UMIST
where DSSC_DATA is set), solved to 1e-8. `benchmarks.hostile_judge` decides:

- certified: the result says converged, and the judge agrees
- honest: it says not converged, or refuses with an error that gives a reason
- wrong: it says converged, and the judge does not agree
- crash: any other exception
- slow: more than 5 seconds of processor time (all problems have n <= 400)

The command fails if a certificate is wrong, something crashes or is slow, or less than 99.9 % of
the solvable problems are certified. `--peers` runs POT, regot and Clarabel (an exact solver of
quadratic programs) on the part of the corpus that they take.
"""

import argparse
import os
import time
import warnings
from collections import Counter

import numpy as np
from sklearn.datasets import load_digits

from benchmarks import hostile_corpus as corpus
from benchmarks.hostile_judge import judge
from dssc import (
    fetch_orl,
    fetch_umist,
    least_squares_representation,
    project_doubly_stochastic,
    quadratic_transport,
    unit_norm,
)

TOL = 1e-8
SLOW_SECONDS = 5.0
LEAST_CERTIFIED = 0.999
OUTCOMES = ("certified", "honest", "wrong", "crash", "slow")


def real_problems():
    """Yield similarities of images. Matrix products make them, so they are not in the checksum."""
    sets = {"digits": load_digits().data}
    if os.environ.get("DSSC_DATA"):
        sets |= {"ORL": fetch_orl().data, "UMIST": fetch_umist().data}
    for name, data in sets.items():
        X = unit_norm(np.asarray(data, dtype=np.float64)[:400])
        similarities = {
            "cosine": X @ X.T,
            "self-expression": np.abs(least_squares_representation(X, 1.0)),
            "self-expression, eta1=100": np.abs(least_squares_representation(X, 100.0)),
        }
        for kind, K in similarities.items():
            for eta2 in (1.0, 1e-1, 1e-2, 1e-3, 1e-4):
                yield corpus.Problem("real", f"{name}, {kind}, eta2={eta2:g}", K, eta2)


def solve(problem):
    """Return the result of the front door that the problem is for."""
    if problem.is_transport:
        return quadratic_transport(
            problem.K, problem.eta2, problem.a, problem.b, support=problem.support, tol=TOL
        )
    return project_doubly_stochastic(problem.K, problem.eta2, support=problem.support, tol=TOL)


def marginals(problem):
    """Return the marginals of a problem, ones for a projection."""
    if problem.is_transport:
        return problem.a, problem.b
    return np.ones(problem.K.shape[0]), np.ones(problem.K.shape[1])


def outcome(problem):
    """Return what came of a problem, with a remark and the seconds it took."""
    start = time.process_time()
    try:
        result = solve(problem)
    except ValueError as error:
        seconds = time.process_time() - start
        refusal = "crash" if problem.expected == corpus.SOLVABLE else "honest"
        return refusal, str(error), seconds
    except Exception as error:
        return "crash", f"{type(error).__name__}: {error}", time.process_time() - start
    seconds = time.process_time() - start
    if seconds > SLOW_SECONDS:
        return "slow", result.status, seconds
    if not result.converged:
        return "honest", result.status, seconds
    a, b = marginals(problem)
    args = (problem.K, problem.eta2, a, b, result.plan, result.potentials, problem.support)
    verdict = judge(*args)
    # The solver judges in float64, whose sums of n entries may hide a little.
    is_right = verdict.is_within(1.001 * TOL) and problem.expected != corpus.INFEASIBLE
    return "certified" if is_right else "wrong", f"{verdict}; {result.status}", seconds


def main(family, n_worst, with_peers):
    """Print the table; return whether the goals are met."""
    warnings.simplefilter("ignore")
    problems = list(corpus.problems())
    assert corpus.checksum(problems) == corpus.CHECKSUM, "the corpus has changed: see its module"
    problems += real_problems()
    problems = [problem for problem in problems if family in (None, problem.family)]
    for problem in problems:  # compiles, whatever the family
        if problem.name.startswith("uniform"):
            outcome(problem)
    runs = [(problem, *outcome(problem)) for problem in problems]
    show_table(runs)
    slowest = sorted(runs, key=lambda run: -run[3])[:n_worst]
    print(f"\nSlowest: {', '.join(f'{p.family}: {p.name} ({s:.1f} s)' for p, _, _, s in slowest)}")
    for problem, kind, remark, _ in runs:
        missed = kind == "honest" and problem.expected == corpus.SOLVABLE
        if missed or kind in ("wrong", "crash", "slow"):
            print(f"- {kind}: {problem.family}: {problem.name}: {remark}")
    if with_peers:
        from benchmarks import hostile_peers

        hostile_peers.main([run[0] for run in runs if run[1] == "certified"])
    counts = Counter(kind for _, kind, _, _ in runs)
    solvable = [kind for problem, kind, _, _ in runs if problem.expected == corpus.SOLVABLE]
    share = solvable.count("certified") / max(1, len(solvable))
    print(f"\n{share:.2%} of {len(solvable)} solvable problems certified to {TOL:g}")
    return share >= LEAST_CERTIFIED and not any(counts[k] for k in ("wrong", "crash", "slow"))


def show_table(runs):
    """Print one row per family and what was expected of its problems."""
    print(f"corpus version {corpus.VERSION}, {len(runs)} problems")
    print(f"\n| family | expected | problems | {' | '.join(OUTCOMES)} | CPU seconds | most |")
    print("|---" * (len(OUTCOMES) + 5) + "|")
    groups = dict.fromkeys((problem.family, problem.expected) for problem, *_ in runs)
    for group in [*groups, ("all", "")]:
        rows = [r for r in runs if group[0] == "all" or (r[0].family, r[0].expected) == group]
        counts = Counter(kind for _, kind, _, _ in rows)
        seconds = [row[3] for row in rows]
        numbers = " | ".join(str(counts[kind]) for kind in OUTCOMES)
        print(
            f"| {' | '.join(group)} | {len(rows)} | {numbers} "
            f"| {sum(seconds):.1f} | {max(seconds):.2f} |"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--family", choices=[*corpus.FAMILIES, "real"])
    parser.add_argument("--worst", type=int, default=5, help="slowest problems to name")
    parser.add_argument("--peers", action="store_true")
    arguments = parser.parse_args()
    ok = main(arguments.family, arguments.worst, arguments.peers)
    raise SystemExit(0 if ok else 1)
