"""Running one job: from its description to its result."""

import os
import platform
import time
import warnings
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

import dssc
from dssc._memory import peak_bytes, reset_peak
from dssc._typing import Array
from dssc.paper.composed_jobs import UnsuitableMachine, run_composition
from dssc.paper.experiments import RUNS, Job
from dssc.paper.loading import MissingData, load
from dssc.paper.published import paper_data
from dssc.paper.time_limit import OutOfTime, time_limit


def run_job(job: Job, folder: Path, device: str = "cpu") -> Job:
    """Return the job with its result, or with the reason why it has none.

    Parameters
    ----------
    job : dict
        A job of `dssc.paper.experiments`.
    folder : Path
        Folder for pictures.
    device : str, default="cpu"
        Device of the clusterings by methods that can use one; the others run on the CPU. It is not
        part of a job's identity, but the result says where its seconds were measured.
    """
    device = device_for(job, device)
    with warnings.catch_warnings():
        # The tables show these things themselves: too many components, a solver not converged.
        warnings.simplefilter("ignore")
        try:
            result = RUNNERS[job["kind"]](job, folder, device)
        except MissingData as error:
            result = {"error": str(error), "missing": True}
        except UnsuitableMachine as error:
            result = {"error": str(error), "elsewhere": True}
        except (ValueError, MemoryError, np.linalg.LinAlgError) as error:
            # For example: C is zero, or too few points are in the graph's large components.
            result = {"error": str(error) or type(error).__name__}
    when = datetime.now(UTC).isoformat(timespec="seconds")
    where = {"device": device, "machine": machine(device)}
    return {**job, **result, "version": dssc.__version__, **where, "when": when}


def why_not_available(job: Job, device: str = "cpu") -> str | None:
    """Return the reason why the data of a job are missing, or None if they are available."""
    name = job["data"]
    if job["kind"] == "projection":
        name = paper_data("runtimes")[name].get("data")  # None for random problems
    try:
        if name is not None:
            load(name, device_for(job, device))
    except MissingData as error:
        return str(error)
    return None


def device_for(job: Job, device: str) -> str:
    """Return `device` if the job's method can use it, and the CPU otherwise."""
    if job["kind"] == "clustering" and paper_data("methods")[job["method"]].get("device"):
        return device
    return "cpu"


def machine(device: str = "cpu") -> str:
    """Return a description of the processor, the number of cores and the device."""
    description = (
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    )
    if device == "cpu":
        return description
    import torch

    name = torch.cuda.get_device_name(device) if device.startswith("cuda") else "torch on the CPU"
    return f"{name}, {description}"


def _run_clustering(job: Job, folder: Path, device: str) -> dict[str, Any]:
    from dssc.paper.protocol import paper_scores

    if "affinity" in paper_data("methods")[job["method"]]:
        return run_composition(job, device)
    X, y = load(job["data"], device)
    model = _estimator(job, device)
    _compile(job, device)
    reset_peak()
    seconds = _seconds_to_fit(model, X)
    peak = peak_bytes()
    by_affinity = paper_data("datasets")[job["data"]].get("judged") == "affinity"
    result = paper_scores(model, y, job["runs"], job.get("seeds", "plain"), by_affinity)
    result["seconds"] = seconds
    if peak is not None:
        result["peak_MB"] = peak >> 20
    if hasattr(model, "projection_"):
        result["status"] = model.projection_.status
    return result


def _estimator(job: Job, device: str) -> Any:
    method, data = paper_data("methods")[job["method"]], paper_data("datasets")[job["data"]]
    k = data["clusters"]
    return getattr(dssc, method["estimator"])(
        k,
        n_components=None if method.get("fading") else k + data.get("extra_eigenvectors", 0),
        n_init=job.get("n_init", 10),
        merge_copies=False,
        random_state=job["seed"],
        **job["parameters"],
        **_device_parameters(device),
    )


def _device_parameters(device: str) -> dict[str, str]:
    """Return the parameters that put an estimator on a device; the CPU needs none."""
    return {} if device == "cpu" else {"device": device}


def _seconds_to_fit(model: Any, X: Array) -> float:
    start = time.perf_counter()
    model.fit(X)
    return round(time.perf_counter() - start, 3)


# Methods whose code has been compiled in this process.
compiled_methods: set[str] = set()


def _compile(job: Job, device: str) -> None:
    """Fit a few points first, so that compilation does not count as time of the method."""
    if job["method"] in compiled_methods:
        return
    entry = paper_data("methods")[job["method"]]
    X, _ = dssc.make_union_of_subspaces(60, random_state=0)
    quick = {"max_iter": 2} if entry["estimator"] == "JDSSC" else {}
    parameters = {**entry.get("fixed", {}), **quick, **_device_parameters(device)}
    getattr(dssc, entry["estimator"])(3, random_state=0, **parameters).fit(X)
    compiled_methods.add(job["method"])


def _run_projection(job: Job, folder: Path, device: str) -> dict[str, Any]:
    parameters = job["parameters"]
    K, eta2 = similarity_problem(job["data"], parameters["scale"], job["seed"])
    options: dict[str, Any] = {
        "tol": parameters["tol"],
        "max_iter": parameters["max_iter"],
        "solver": job["method"],
    }
    tiny = np.random.default_rng(0).uniform(size=(30, 30))
    dssc.project_doubly_stochastic(tiny, 0.5, **options)  # compiles
    limit = paper_data("runtimes")["limit"]
    start = time.perf_counter()
    try:
        with time_limit(limit):
            result = dssc.project_doubly_stochastic(K, eta2, **options)
    except OutOfTime:
        return {"limit": limit, "reached": False, "n": len(K)}
    seconds = time.perf_counter() - start
    return {
        "seconds": round(seconds, 3),
        # The paper stops by the sums only; the gap says how far the result is from the optimum.
        "reached": bool(result.marginal_error <= parameters["tol"]),
        "marginal_error": float(result.marginal_error),
        "gap": float(result.gap),
        "iterations": int(result.n_iter),
        "n": len(K),
    }


def similarity_problem(name: str, scale: float, seed: int) -> tuple[Array, float]:
    """Return the similarities and eta2 of one of the problems D1 to D4."""
    entry = paper_data("runtimes")[name]
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


def _run_sparsity(job: Job, folder: Path, device: str) -> dict[str, Any]:
    from dssc.paper.figures import draw_sparsity

    X, y = load(job["data"])
    kept = y < paper_data("figures")["sparsity"]["classes"]
    X, y = X[kept], y[kept]
    model = dssc.JDSSC(len(np.unique(y)), random_state=job["seed"], **job["parameters"]).fit(X)
    A = model.affinity_matrix_
    draw_sparsity(A, y, job["parameters"]["eta2"], folder)
    return {
        "SPE": float(dssc.subspace_preserving_error(A, y)),
        "NNZ": float(dssc.nonzeros_per_point(A)),
        "iterations": int(model.n_iter_),
        "n": len(X),
    }


def _run_alternating(job: Job, folder: Path, device: str) -> dict[str, Any]:
    from dssc.paper.protocol import paper_scores

    X, y = load(job["data"])
    model = _estimator(job, device)
    seconds = _seconds_to_fit(model, X)
    scores = paper_scores(model, y, RUNS)
    C = np.abs(model.representation_matrix_)
    model.embedding_ = dssc.spectral_embedding((C + C.T) / 2, model.n_clusters, random_state=0)
    result = model.projection_
    return {
        "objective": float(result.objective),
        "dual": float(result.dual),
        "gap": float(result.gap),
        "ACC": scores["ACC"],
        "ACC_of_C": paper_scores(model, y, RUNS)["ACC"],
        "NNZ": scores["NNZ"],
        "seconds": seconds,
    }


# How each kind of job is run.
RUNNERS: dict[str, Callable[[Job, Path, str], dict[str, Any]]] = {
    "clustering": _run_clustering,
    "projection": _run_projection,
    "sparsity": _run_sparsity,
    "alternating": _run_alternating,
}
