"""The doubly stochastic projection: all solvers here and their peers, judged side by side.

    DSSC_DATA=folder python benchmarks/projection.py [--quick] [--limit SECONDS] [--out FOLDER]

Problems are D1 to D4 of the paper's runtime table; D1 and D2 need the data. Peers that are not
installed (POT, regot, TorchDR) are left out. Every run is a process of its own with two threads, on
a matrix already loaded and code already compiled. One judge recomputes marginals and objective in
float64: a run counts when its worst marginal is within the target, so a solver whose tolerance
means something else is tried with smaller ones, and only the run that succeeds is timed. NC: not
within the target after 5,000 iterations or the time limit.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

THREADS = 2
os.environ |= {"OMP_NUM_THREADS": str(THREADS), "NUMBA_NUM_THREADS": str(THREADS)}
# No solver spends its time in BLAS, and short dot products in two threads only slow L-BFGS down.
os.environ |= {"OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}

import numpy as np  # noqa: E402
from scipy import sparse  # noqa: E402

MAX_ITER = 5000
REPEATED_SECONDS = 5.0  # quick runs are repeated, up to five times, and their median is taken
TARGETS = (1e-4, 1e-8)


def problems(quick):
    """Yield (name, K, eta2) of the paper's D1 to D4; quick ones are a tenth of the size."""
    import dssc

    def similarity(X, eta1):
        return np.abs(dssc.least_squares_representation(dssc.unit_norm(X), eta1))

    if not quick and os.environ.get("DSSC_DATA"):
        yield "D1", similarity(dssc.fetch_yaleb().data, 0.5), 0.1
        objects = dssc.scattered_features(dssc.fetch_coil().images).astype(np.float64)
        yield "D2", similarity(objects, 0.1), 0.025
    n = 200 if quick else 2000
    G = np.abs(np.random.default_rng(0).standard_normal((n, n)))
    yield "D3", (G + G.T) / (G + G.T).max(), 0.5
    X, _ = dssc.make_union_of_subspaces(
        2 * n, n_subspaces=10, dimension=5, n_features=15, random_state=0
    )
    yield "D4", similarity(X, 1.0), 0.01


def ours(solver):
    """Return a runner for one of our solvers."""

    def run(K, eta2, tol):
        from dssc import project_doubly_stochastic

        max_iter = None if solver == "newton" else MAX_ITER
        result = project_doubly_stochastic(K, eta2, solver=solver, tol=tol, max_iter=max_iter)
        return result.plan, result.n_iter, result.n_evaluations

    return run


def pot(K, eta2, tol):
    """POT: L-BFGS on the full dual."""
    import ot

    ones = np.ones(len(K))
    plan, log = ot.smooth.smooth_ot_dual(
        ones, ones, -K, eta2, reg_type="l2", numItermax=MAX_ITER, stopThr=tol, log=True
    )
    details = log if "nfev" in log else log["res"]
    return plan, details.get("nit", details["nfev"]), details["nfev"]


def regot(K, eta2, tol):
    """Call regot's globalised regularised semismooth Newton method."""
    import regot as peer

    ones = np.ones(len(K))
    result = peer.qrot_grssn(np.asfortranarray(-K), ones, ones, eta2, tol=tol, max_iter=MAX_ITER)
    return result.plan, result.niter, result.niter


def torchdr(K, eta2, tol):
    """TorchDR: Adam on the symmetric dual; it only knows symmetric problems."""
    import torch
    from torchdr.affinity import DoublyStochasticQuadraticAffinity

    if not np.array_equal(K, K.T):
        raise NotImplementedError("TorchDR's affinity is symmetric")
    torch.set_num_threads(THREADS)
    affinity = DoublyStochasticQuadraticAffinity(
        eps=eta2, tol=tol, max_iter=MAX_ITER, zero_diag=False, device="cpu"
    )
    affinity._distance_matrix = lambda X: torch.from_numpy(-K)
    plan = affinity(torch.zeros(len(K), 1, dtype=torch.float64)).numpy() * len(K)
    return plan, int(affinity.n_iter_) + 1, int(affinity.n_iter_) + 1


RUNNERS = {
    "newton (ours)": ours("newton"),
    "active-set (Algorithm 2)": ours("active-set"),
    "lbfgs (full dual)": ours("lbfgs"),
    "ADMM": ours("admm"),
    "alternating": ours("alternating"),
    "POT smooth": pot,
    "regot grssn": regot,
    "TorchDR": torchdr,
}
PEERS = {"POT smooth": "ot", "regot grssn": "regot", "TorchDR": "torchdr"}


def judge(K, eta2, plan):
    """Return the worst marginal and the objective of a plan, recomputed in float64."""
    A = plan.toarray() if sparse.issparse(plan) else np.asarray(plan, dtype=np.float64)
    A = np.maximum(A, 0.0)
    error = max(np.abs(A.sum(axis=axis) - 1).max() for axis in (0, 1))
    return float(error), float(-np.vdot(K, A) + eta2 / 2 * np.vdot(A, A))


def peak_megabytes():
    """Return the largest resident memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def child(path, name, eta2, target):
    """Run one solver on one problem until it meets the target; print what the judge says."""
    import warnings

    warnings.simplefilter("ignore")
    run = RUNNERS[name]
    small = np.random.default_rng(0).random((300, 300))
    run(small + small.T, 1.0, 1e-2)  # compiles, imports
    K = np.load(path)
    before = peak_megabytes()
    for factor in (1.0, 0.1, 1e-2, 1e-4, 1e-6):
        times = []
        while not times or (len(times) < 5 and sum(times) < REPEATED_SECONDS):
            start = time.perf_counter()
            plan, n_iter, n_evaluations = run(K, eta2, factor * target)
            times.append(time.perf_counter() - start)
        peak = peak_megabytes()
        error, objective = judge(K, eta2, plan)
        row = {
            "seconds": float(np.median(times)),
            "iterations": int(n_iter),
            "evaluations": int(n_evaluations),
            "error": error,
            "objective": objective,
            "memory": peak - before,
            "met": error <= target,
        }
        print(json.dumps(row), flush=True)
        if row["met"] or n_iter >= MAX_ITER:
            break


def measure(path, name, eta2, target, limit):
    """Run a child and return its last word, or that it had none."""
    command = [sys.executable, __file__, "--child", path, name, repr(eta2), repr(target)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired as late:
        lines = (late.stdout or b"").decode().splitlines()
        return {**(json.loads(lines[-1]) if lines else {}), "met": False, "late": True}
    if done.returncode:
        return {"met": False, "failed": done.stderr.strip().splitlines()[-1]}
    return json.loads(done.stdout.splitlines()[-1])


def installed(name):
    """Tell whether a runner's package can be imported."""
    from importlib.util import find_spec

    return name not in PEERS or find_spec(PEERS[name]) is not None


def cell(row, best):
    """Return one entry of the table."""
    if "failed" in row:
        return "n/a" if "NotImplemented" in row["failed"] else f"failed: {row['failed'][:40]}"
    if not row["met"]:
        reached = f", {row['error']:.0e}" if "error" in row else ""
        return f"NC{reached}" + (" (time)" if row.get("late") else "")
    off = (row["objective"] - best) / max(1.0, abs(best))
    note = f"; objective off by {off:.0e}" if off > 1e-3 else ""
    return f"{row['seconds']:.2f} s, {row['evaluations']} ev., {row['memory']:.0f} MB{note}"


def report(rows, names, target):
    """Return a Markdown table of one target."""
    columns = list(rows)
    lines = [
        f"Seconds, evaluations and memory to a marginal error of {target:.0e}:",
        "",
        "| solver | " + " | ".join(columns) + " |",
        "|---|" + "---|" * len(columns),
    ]
    for name in names:
        cells = []
        for column in columns:
            found = [row["objective"] for row in rows[column][str(target)].values() if row["met"]]
            cells.append(cell(rows[column][str(target)][name], min(found, default=0.0)))
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main(arguments):
    """Measure everything, print the tables, and write them as Markdown and JSON."""
    names = [name for name in RUNNERS if installed(name)]
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        for problem, K, eta2 in problems(arguments.quick):
            label = f"{problem} (n = {len(K)})"
            path = str(Path(folder) / f"{problem}.npy")
            np.save(path, K)
            del K
            rows[label] = {}
            for target in TARGETS:
                rows[label][str(target)] = {}
                for name in names:
                    row = measure(path, name, eta2, target, arguments.limit)
                    rows[label][str(target)][name] = row
                    print(f"{label} {target:.0e} {name}: {row}", file=sys.stderr, flush=True)
            Path(path).unlink()
    machine = f"{platform.machine()}, {THREADS} threads, Python {platform.python_version()}"
    text = "\n\n".join(
        [f"Machine: {machine}", *[report(rows, names, target) for target in TARGETS]]
    )
    print(text)
    if arguments.out:
        folder = Path(arguments.out)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "projection.md").write_text(text + "\n", encoding="utf-8")
        (folder / "projection.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], sys.argv[3], float(sys.argv[4]), float(sys.argv[5]))
    else:
        parser = argparse.ArgumentParser()
        parser.add_argument("--quick", action="store_true", help="D3 and D4 at a tenth of the size")
        parser.add_argument("--limit", type=float, default=300.0, help="seconds a run may take")
        parser.add_argument("--out", help="folder to write projection.md and projection.json to")
        main(parser.parse_args())
