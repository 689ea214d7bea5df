"""Peers on the hostile problems that ours certified: POT, regot, and Clarabel through CVXPY.

Every peer gets K, marginals and 1e-8 as its tolerance. Its plan is compared with the certified one:
how far its sums are off, in mean row sums, and how far it is from the optimum, relative to its
norm. A gap of 1e-8 puts a plan within 1.4e-4 of the optimum, so these are the two measures for
"as certified"; "roughly right" is 1e-4 and 1e-2. Peers that are not installed are left out.
"""

import time
from collections import Counter

import numpy as np
from scipy import sparse

from benchmarks.hostile_judge import LONG

TOL = 1e-8
# Every so many problems, of at most so many rows and columns: an exact solver holds n^2 variables.
STRIDE, LARGEST = 4, 40
# Families whose entries and marginals are numbers of ordinary size.
ORDINARY = ("plain", "sparse", "typed")
OUTCOMES = ("as certified", "roughly right", "says it failed", "wrong", "error")


def pot(K, eta2, a, b):
    """Return the plan of POT's L-BFGS on the dual, and whether it claims success."""
    import ot

    plan, log = ot.smooth.smooth_ot_dual(
        a, b, -K, eta2, reg_type="l2", numItermax=5000, stopThr=TOL, log=True
    )
    details = log.get("res", log)  # depends on the version
    return plan, bool(details.get("success", True))


def regot(K, eta2, a, b):
    """Return the plan of regot's regularised semismooth Newton method, without a status."""
    import regot as peer

    result = peer.qrot_grssn(np.asfortranarray(-K), a, b, eta2, tol=TOL, max_iter=5000)
    return result.plan, result.niter < 5000


def clarabel(K, eta2, a, b):
    """Return the plan of an interior-point method for the quadratic program, and its status."""
    import cvxpy as cp

    A = cp.Variable(K.shape, nonneg=True)
    objective = cp.Minimize(-cp.sum(cp.multiply(K, A)) + eta2 / 2 * cp.sum_squares(A))
    problem = cp.Problem(objective, [cp.sum(A, axis=1) == a, cp.sum(A, axis=0) == b])
    tolerances = {"tol_gap_abs": TOL, "tol_gap_rel": TOL, "tol_feas": TOL}
    problem.solve(solver=cp.CLARABEL, **tolerances)
    if A.value is None:
        return np.full(K.shape, np.nan), False
    return np.maximum(A.value, 0.0), problem.status == "optimal"


PEERS = {"POT": ("ot", pot), "regot": ("regot", regot), "Clarabel": ("cvxpy", clarabel)}


def installed():
    """Return the peers that can be imported."""
    from importlib.util import find_spec

    return {name: run for name, (module, run) in PEERS.items() if find_spec(module)}


def main(problems):
    """Print a table of outcomes."""
    from benchmarks.hostile import marginals, solve

    small = [p for p in problems if max(p.K.shape) <= LARGEST and p.support is None][::STRIDE]
    print(f"\n| solver | problems | {' | '.join(OUTCOMES)} | CPU seconds |")
    print("|---" * (len(OUTCOMES) + 3) + "|")
    ordinary = [p for p in small if p.family in ORDINARY]
    hostile = [p for p in small if p.family not in ORDINARY]
    for title, group in (("ordinary scale", ordinary), ("other", hostile)):
        plans = [_long(solve(problem).plan) for problem in group]
        for name, run in installed().items():
            counts, start = Counter(), time.process_time()
            for problem, optimum in zip(group, plans, strict=True):
                K = _long(problem.K).astype(np.float64)
                counts[outcome(run, K, problem.eta2, marginals(problem), optimum)] += 1
            seconds = time.process_time() - start
            numbers = " | ".join(str(counts[kind]) for kind in OUTCOMES)
            print(f"| {name} | {title}, {len(group)} | {numbers} | {seconds:.1f} |", flush=True)


def outcome(run, K, eta2, marginals, optimum):
    """Return how a peer's plan compares with the certified one."""
    a, b = marginals
    try:
        plan, is_sure = run(K, eta2, a, b)
    except Exception:  # of any kind: they come from compiled code of three projects
        return "error"
    A, mean = _long(plan), LONG(a.mean())
    if not np.all(np.isfinite(A)):
        return "wrong" if is_sure else "says it failed"
    error = max(np.abs(A.sum(axis=1) - a).max(), np.abs(A.sum(axis=0) - b).max()) / mean
    # In units of the mean, because squares of tiny marginals vanish.
    distance = np.linalg.norm((A - optimum) / mean) / np.linalg.norm(optimum / mean)
    if error <= TOL and distance <= np.sqrt(2 * TOL):
        return "as certified"
    if error <= 1e-4 and distance <= 1e-2:
        return "roughly right"
    return "wrong" if is_sure else "says it failed"


def _long(M):
    return (M.toarray() if sparse.issparse(M) else np.asarray(M)).astype(LONG)
