"""Doing one job: from its dict to its result."""

import os
import platform
import time
import warnings
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

import dssc
from dssc._memory import forget_peak, peak_bytes
from dssc.paper.experiments import Job
from dssc.paper.limits import OutOfTime, at_most
from dssc.paper.loading import Missing, load
from dssc.paper.published import read


def do(job: Job, folder: Path, device: str = "cpu") -> Job:
    """Return the job with its result, or with the reason why there is none.

    Parameters
    ----------
    job : dict
        As `dssc.paper.experiments` makes it.
    folder : Path
        Where a picture goes.
    device : str, default="cpu"
        What a clustering by a method that can use another device than the CPU runs on. It is no
        part of what the job is, but the line says where its seconds come from.
    """
    device = device_for(job, device)
    found: dict[str, Any]
    with warnings.catch_warnings():
        # What a table shows beside its numbers: too many components, a solver that fell short.
        warnings.simplefilter("ignore")
        try:
            found = KINDS[job["kind"]](job, folder, device)
        except Missing as error:
            found = {"error": str(error), "missing": True}
        except (ValueError, MemoryError, np.linalg.LinAlgError) as error:
            # Such as: C is zero, or too few points are in the graph's large pieces.
            found = {"error": str(error) or type(error).__name__}
    when = datetime.now(UTC).isoformat(timespec="seconds")
    where = {"device": device, "machine": machine(device)}
    return {**job, **found, "version": dssc.__version__, **where, "when": when}


def device_for(job: Job, device: str) -> str:
    """Return the device a job runs on when another than the CPU is asked for."""
    able = job["kind"] == "clustering" and read("methods")[job["method"]].get("device")
    return device if able else "cpu"


def machine(device: str = "cpu") -> str:
    """Return the processor, the number of cores and the device in words."""
    words = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    if device == "cpu":
        return words
    import torch

    name = torch.cuda.get_device_name(device) if device.startswith("cuda") else "torch on the CPU"
    return f"{name}, {words}"


def _clustering(job, folder, device):
    from dssc.paper.protocol import scores

    X, y = load(job["data"], device)
    model = _estimator(job, device)
    _compile(job, device)
    forget_peak()
    start = time.perf_counter()
    model.fit(X)
    seconds = time.perf_counter() - start
    peak = peak_bytes()
    by_affinity = read("datasets")[job["data"]].get("judged") == "affinity"
    result = scores(model, y, job["runs"], job.get("seeds", "plain"), by_affinity)
    result["seconds"] = round(seconds, 3)
    if peak is not None:
        result["peak_MB"] = peak >> 20
    if hasattr(model, "projection_"):
        result["status"] = model.projection_.status
    return result


def _estimator(job, device):
    entry, sizes = read("methods")[job["method"]], read("datasets")[job["data"]]
    k = sizes["clusters"]
    return getattr(dssc, entry["estimator"])(
        k,
        n_components=None if entry.get("fading") else k + sizes.get("extra_eigenvectors", 0),
        n_init=job.get("n_init", 10),
        random_state=job["seed"],
        **job["parameters"],
        **_on(device),
    )


def _on(device):
    """Return the parameters that put an estimator on a device; the CPU needs none."""
    return {} if device == "cpu" else {"device": device}


_compiled: set[str] = set()


def _compile(job, device):
    """Fit a few points first, so that no time is that of a compiler."""
    entry = read("methods")[job["method"]]
    if job["method"] not in _compiled:
        X, _ = dssc.make_union_of_subspaces(60, random_state=0)
        quick = {"max_iter": 2} if entry["estimator"] == "JDSSC" else {}
        settings = {**entry.get("fixed", {}), **quick, **_on(device)}
        getattr(dssc, entry["estimator"])(3, random_state=0, **settings).fit(X)
        _compiled.add(job["method"])


def _projection(job, folder, device):
    settings = job["parameters"]
    K, eta2 = similarity_problem(job["data"], settings["scale"], job["seed"])
    stop = {"tol": settings["tol"], "max_iter": settings["max_iter"], "solver": job["method"]}
    tiny = np.random.default_rng(0).uniform(size=(30, 30))
    dssc.project_doubly_stochastic(tiny, 0.5, **stop)
    limit = read("runtimes")["limit"]
    start = time.perf_counter()
    try:
        with at_most(limit):
            result = dssc.project_doubly_stochastic(K, eta2, **stop)
    except OutOfTime:
        return {"limit": limit, "reached": False, "n": len(K)}
    seconds = time.perf_counter() - start
    return {
        "seconds": round(seconds, 3),
        # The paper stops by the sums alone; the gap says how far the answer is from the nearest.
        "reached": bool(result.marginal_error <= settings["tol"]),
        "marginal_error": float(result.marginal_error),
        "gap": float(result.gap),
        "iterations": int(result.n_iter),
        "n": len(K),
    }


def similarity_problem(name: str, scale: float, seed: int):
    """Return the similarities and eta2 of one of the problems D1 to D4."""
    entry = read("runtimes")[name]
    if "gaussian" in entry:
        n = round(scale * entry["gaussian"])
        G = np.abs(np.random.default_rng(seed).standard_normal((n, n)))
        return (G + G.T) / (G + G.T).max(), entry["eta2"]
    if "subspaces" in entry:
        X, _ = dssc.make_union_of_subspaces(
            round(scale * entry["subspaces"]),
            n_subspaces=10,
            dimension=5,
            n_features=15,
            random_state=seed,
        )
    else:
        X, _ = load(entry["data"])
    C = dssc.least_squares_representation(dssc.unit_norm(X), entry["eta1"])
    return np.abs(C), entry["eta2"]


def _sparsity(job, folder, device):
    from dssc.metrics import nonzeros_per_point, subspace_preserving_error
    from dssc.paper.figures import draw_sparsity

    X, y = load(job["data"])
    some = y < read("figures")["sparsity"]["classes"]
    X, y = X[some], y[some]
    model = dssc.JDSSC(len(np.unique(y)), random_state=job["seed"], **job["parameters"]).fit(X)
    A = model.affinity_matrix_
    draw_sparsity(A, y, job["parameters"]["eta2"], folder)
    return {
        "SPE": float(subspace_preserving_error(A, y)),
        "NNZ": float(nonzeros_per_point(A)),
        "iterations": int(model.n_iter_),
        "n": len(X),
    }


def _alternating(job, folder, device):
    from dssc.paper.protocol import scores

    X, y = load(job["data"])
    model = _estimator(job, device)
    start = time.perf_counter()
    model.fit(X)
    seconds = time.perf_counter() - start
    found = scores(model, y, 100)
    C = np.abs(model.representation_matrix_)
    model.embedding_ = dssc.spectral_embedding((C + C.T) / 2, model.n_clusters, random_state=0)
    result = model.projection_
    return {
        "objective": float(result.objective),
        "dual": float(result.dual),
        "gap": float(result.gap),
        "ACC": found["ACC"],
        "ACC_of_C": scores(model, y, 100)["ACC"],
        "NNZ": found["NNZ"],
        "seconds": round(seconds, 3),
    }


KINDS = {
    "clustering": _clustering,
    "projection": _projection,
    "sparsity": _sparsity,
    "alternating": _alternating,
}
