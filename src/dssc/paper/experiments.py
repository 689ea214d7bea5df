"""Experiments as lists of jobs: which method on which data with which parameters.

A job is a dict of JSON types that describes a computation completely: "kind", "data", "method",
"parameters" and "seed". Clusterings have in addition "runs" (of k-means on one embedding), "n_init"
(of the one fit), and "seeds" if those runs are not plain. The seed of a network is that of its
training. A job is done if a line of results has the same key.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any

from dssc.paper.published import paper_data, published_numbers

Job = dict[str, Any]

# Runs of k-means on an embedding, as in the paper.
RUNS = 100
# Runs of k-means at each point of a grid.
SEARCH_RUNS = 10
# Starts of k-means in the one fit.
N_INIT = 10
# Best points of a grid that get all runs: with few runs only, luck would decide.
FINALISTS = 3
# A quick run uses data sets of at most this many samples.
QUICK_SAMPLES = 1000
# Seed of every job, and of the first training of a network.
SEED = 0
# The entries of a job that identify it.
IDENTITY = ("kind", "data", "method", "parameters", "seed", "runs", "n_init", "seeds")
# Data sets of our tables that the paper's tables do not have.
EXTRA_DATA = {"table2": ("emnist_part_scattered",), "neural": ("coil40", "coil100", "umist")}
# Methods of the comparison with neural networks that its table in the paper does not have.
EXTRA_METHODS = ("EnSC-PP", "LSR-PP", "DSC-Net", "DSC-Net-DS")
# Methods of the comparison with neural networks that are run; grids are searched in Table 1 only.
NEURAL_METHODS = ("DSC-Net", "DSC-Net-DS", "DSC-Net-PP", "J-DSSC", "A-DSSC")
# Experiments that compare clusterings.
TABLES = ("table1", "table2", "neural")
# Experiments that draw pictures.
FIGURES = ("sparsity", "alternating", "samples")
# All experiments.
EXPERIMENTS = (*TABLES, "runtimes", *FIGURES)


def job_key(job: Job) -> str:
    """Return a text that identifies a job."""
    return json.dumps([job.get(name) for name in IDENTITY], sort_keys=True)


def data_of(table: str) -> list[str]:
    """Return the data sets of a table."""
    return [*published_numbers(table), *EXTRA_DATA.get(table, ())]


def methods_of(table: str) -> list[str]:
    """Return the methods of a table, each followed by its variants that the paper does not have."""
    published = paper_data(table)["methods"]
    if table == "neural":
        return [*EXTRA_METHODS, *published]
    methods = paper_data("methods")
    return [
        name
        for paper_name in published
        for name, entry in methods.items()
        if entry.get("paper", name) == paper_name
    ]


def points(method: str, data: str, quick: bool = False) -> list[dict[str, Any]]:
    """Return the parameters a method is run with on a data set; none if it is not run."""
    entry, sizes = paper_data("methods")[method], paper_data("datasets")[data]
    if "not_run" in entry or sizes["n"] > entry.get("max_samples", sizes["n"]):
        return []
    if entry.get("network") or entry.get("affinity") == "postprocessed":
        return _with_network(entry, data, quick)
    if "chosen" in entry:
        return _around(entry, data, quick)
    if sizes.get("large"):
        return [entry["large"]] if "large" in entry else []
    if quick:
        return [entry["quick"]]
    return _combinations(entry["grid"])


def _with_network(entry: dict[str, Any], data: str, quick: bool) -> list[dict[str, Any]]:
    """Return the parameters of DSC-Net, of its post-processing, or of both."""
    if data not in paper_data("networks"):
        return []
    network = dict(paper_data("networks")[data])
    postprocessing = network.pop("postprocessing")
    last = postprocessing if entry["affinity"] == "postprocessed" else {}
    if entry.get("network"):
        return [{**network, **last}]
    grid = [entry["quick"]] if quick else _combinations(entry["grid"])
    return [{**point, **last} for point in grid]


def _combinations(grid: dict[str, list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]


def _around(entry: dict[str, Any], data: str, quick: bool) -> list[dict[str, Any]]:
    """Return the paper's point for a data set, varied by factors and by further parameters."""
    chosen = entry["chosen"]
    if isinstance(chosen, str):  # the name of another method, whose choice this one shares
        chosen = paper_data("methods")[chosen]["chosen"]
    if data not in chosen:
        return []
    base = chosen[data]
    all_factors = [{}] if quick else _combinations(entry.get("factors", {}))
    further = [{}] if quick else _combinations(entry.get("grid", {}))
    return [
        {**base, **{name: base[name] * factor for name, factor in factors.items()}, **others}
        for factors in all_factors
        for others in further
    ]


def clustering_job(
    method: str, data: str, parameters: dict[str, Any], runs: int, n_init: int, seed: int = SEED
) -> Job:
    """Return the job of one fit and of several runs of k-means on its embedding."""
    return {
        "kind": "clustering",
        "data": data,
        "method": method,
        "parameters": {**paper_data("methods")[method].get("fixed", {}), **parameters},
        "seed": seed,
        "runs": runs,
        "n_init": n_init,
        **({"seeds": seeds} if (seeds := seeds_for(data, method)) else {}),
    }


def seeds_for(data: str, method: str | None = None) -> str | None:
    """Return the kind of runs on a data set, or None for plain ones of k-means."""
    of_method = paper_data("methods")[method].get("seeds") if method else None
    return of_method or paper_data("datasets")[data].get("seeds")


def jobs_of(
    experiment: str, data: Sequence[str] = (), methods: Sequence[str] = (), quick: bool = False
) -> list[Job]:
    """Return the jobs of an experiment; `data` and `methods` restrict those of a table."""
    if experiment not in TABLES:
        return OTHER_JOBS[experiment](quick)
    return table_jobs(
        [name for name in data_of(experiment) if not data or name in data],
        [name for name in methods_of(experiment) if name in (methods or _default(experiment))],
        quick,
        # A quick run is limited to small data unless data sets are named.
        QUICK_SAMPLES if quick and not data else None,
    )


def table_jobs(
    data: Sequence[str], methods: Sequence[str], quick: bool = False, max_samples: int | None = None
) -> list[Job]:
    """Return the jobs of a table, cheap ones first: grids with few runs, single points with all."""
    jobs = []
    for name, method in product(data, methods):
        if max_samples is not None and paper_data("datasets")[name]["n"] > max_samples:
            continue
        grid = points(method, name, quick)
        runs, n_init = (SEARCH_RUNS, 1) if len(grid) > 1 else (RUNS, N_INIT)
        if quick:
            runs = SEARCH_RUNS
        trainings = 1 if quick else paper_data("methods")[method].get("trainings", 1)
        jobs += [
            clustering_job(method, name, point, runs, n_init, SEED + training)
            for point in grid
            for training in range(trainings)
        ]
    return sorted(jobs, key=_cost)


def best_jobs(jobs: Iterable[Job], results: Iterable[Job]) -> list[Job]:
    """Return the jobs with all runs at the best points of every grid among `jobs`."""
    searched = {job_key(job) for job in jobs if job.get("n_init") == 1}
    grids: dict[tuple[str, str], list[Job]] = {}
    for result in results:
        if job_key(result) in searched and "ACC" in result:
            grids.setdefault((result["data"], result["method"]), []).append(result)
    best = [
        clustering_job(method, data, result["parameters"], RUNS, N_INIT)
        for (data, method), searched_points in grids.items()
        for result in sorted(searched_points, key=lambda result: -result["ACC"])[:FINALISTS]
    ]
    return sorted(best, key=_cost)


def runtime_jobs(quick: bool = False) -> list[Job]:
    """Return the jobs of the appendix's runtimes; quick ones are small and need no data."""
    content = paper_data("runtimes")
    names = [name for name in content["problems"] if not (quick and "data" in content[name])]
    return [
        {
            "kind": "projection",
            "data": name,
            "method": solver,
            "parameters": {
                "tol": content["tol"],
                "max_iter": content["max_iter"],
                "scale": 0.1 if quick else 1.0,
            },
            "seed": SEED,
        }
        for solver in reversed(content["solvers"])
        for name in names
    ]


def sparsity_jobs(quick: bool = False) -> list[Job]:
    """Return the jobs of the figure with sparsity patterns."""
    entry = paper_data("figures")["sparsity"]
    return [
        {
            "kind": "sparsity",
            "data": entry["data"],
            "method": "J-DSSC",
            "parameters": {
                "solver": "linearized-admm",
                "eta1": entry["eta1"],
                "eta2": eta2,
                "eta3": entry["eta3"],
            },
            "seed": SEED,
        }
        for eta2 in (entry["eta2"][:1] if quick else entry["eta2"])
    ]


def alternating_jobs(quick: bool = False) -> list[Job]:
    """Return the jobs of the figure with alternating steps; the last one finds the optimum."""
    entry = paper_data("figures")["alternating"]
    weights = {name: entry[name] for name in ("eta1", "eta2", "eta3")}
    steps = entry["steps"][:2] if quick else entry["steps"]
    variants = [*({"alternating_steps": step} for step in steps), {"solver": "newton"}]
    return [
        {
            "kind": "alternating",
            "data": entry["data"],
            "method": "J-DSSC",
            "parameters": {**weights, **variant},
            "seed": SEED,
        }
        for variant in variants
    ]


# Jobs of the experiments other than tables, given whether they are quick.
OTHER_JOBS: dict[str, Callable[[bool], list[Job]]] = {
    "runtimes": runtime_jobs,
    "sparsity": sparsity_jobs,
    "alternating": alternating_jobs,
    "samples": lambda quick: [],
}


def _default(table: str) -> Sequence[str]:
    """Return the methods of a table that are run unless methods are named."""
    methods = paper_data("methods")
    if table == "neural":
        return NEURAL_METHODS
    return [name for name in methods_of(table) if not methods[name].get("optional")]


def _cost(job: Job) -> float:
    """Return a rough measure of a job's time."""
    return (
        paper_data("datasets")[job["data"]]["n"] ** 2
        * paper_data("methods")[job["method"]]["weight"]
    )
