"""Experiments as lists of jobs: which method on which data with which parameters.

A job is a dict of JSON types that says all there is to know, so that its key tells whether it has
been done: {"kind", "data", "method", "parameters", "seed"}, and for clusterings "runs" (of k-means
on one embedding), "n_init" (of the one fit), and "seeds" where those runs do not have plain ones.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any

from dssc.paper.published import published, read

Job = dict[str, Any]

RUNS, SEARCH_RUNS, N_INIT = 100, 10, 10
FINALISTS = 3  # points of a grid that get all runs: few runs alone would choose by luck
QUICK_SAMPLES = 1000  # data sets of a quick run have fewer
SEED = 0
IDENTITY = ("kind", "data", "method", "parameters", "seed", "runs", "n_init", "seeds")
# Rows that the paper's tables do not have.
MORE_DATA = {"table2": ("emnist_part_scattered",)}
# Of the methods in the appendix's table these can be run; grids are Table 1's affair.
NEURAL_METHODS = ("J-DSSC", "A-DSSC")


def key(job: Job) -> str:
    """Return what makes a job this one and no other."""
    return json.dumps([job.get(name) for name in IDENTITY], sort_keys=True)


def data_of(table: str) -> list[str]:
    """Return the data sets of a table."""
    return [*published(table), *MORE_DATA.get(table, ())]


def methods_of(table: str) -> list[str]:
    """Return the methods of a table, each followed by its variants beyond the paper."""
    names = read(table)["methods"]
    methods = read("methods")
    if table == "neural":
        return list(names)
    return [name for column in names for name in methods if _column(name) == column]


def _column(name):
    return read("methods")[name].get("paper", name)


def points(method: str, data: str, quick: bool = False) -> list[dict[str, Any]]:
    """Return the parameters a method is run with on a data set; none where it is not run."""
    entry, sizes = read("methods")[method], read("datasets")[data]
    if "cannot" in entry or sizes["n"] > entry.get("most", sizes["n"]):
        return []
    if "chosen" in entry:
        return _around(entry, data, quick)
    if sizes.get("large"):
        return [entry["large"]] if "large" in entry else []
    if quick:
        return [entry["quick"]]
    return _combinations(entry["grid"])


def _combinations(grid):
    return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]


def _around(entry, data, quick):
    """Return the point chosen for a data set, varied by factors and by further parameters."""
    chosen = entry["chosen"]
    if isinstance(chosen, str):  # the choice of another method
        chosen = read("methods")[chosen]["chosen"]
    if data not in chosen:
        return []
    base = chosen[data]
    varied = [{}] if quick else _combinations(entry.get("factors", {}))
    further = [{}] if quick else _combinations(entry.get("grid", {}))
    return [
        {**base, **{name: base[name] * factor for name, factor in factors.items()}, **more}
        for factors in varied
        for more in further
    ]


def clustering(method: str, data: str, parameters, runs: int, n_init: int) -> Job:
    """Return the job of one fit and so many runs of k-means."""
    return {
        "kind": "clustering",
        "data": data,
        "method": method,
        "parameters": {**read("methods")[method].get("fixed", {}), **parameters},
        "seed": SEED,
        "runs": runs,
        "n_init": n_init,
        **({"seeds": seeds} if (seeds := seeds_for(data)) else {}),
    }


def seeds_for(data: str) -> str | None:
    """Return the kind of first centres a data set's runs have, where it is not the plain one."""
    return read("datasets")[data].get("seeds")


def jobs_of(
    experiment: str, data: Sequence[str] = (), methods: Sequence[str] = (), quick: bool = False
) -> list[Job]:
    """Return the jobs of an experiment; `data` and `methods` restrict those of a table."""
    if experiment in OTHERS:
        return OTHERS[experiment](quick)
    return table_jobs(
        [name for name in data_of(experiment) if not data or name in data],
        [name for name in methods_of(experiment) if name in (methods or _usual(experiment))],
        quick,
        # A quick run keeps to small data unless others are asked for.
        QUICK_SAMPLES if quick and not data else None,
    )


def table_jobs(
    data: Sequence[str],
    methods: Sequence[str],
    quick: bool = False,
    most: int | None = None,
) -> list[Job]:
    """Return the jobs of a table, the cheap ones first: grids with few runs, the rest with all."""
    jobs = []
    for name, method in product(data, methods):
        if most is not None and read("datasets")[name]["n"] > most:
            continue
        found = points(method, name, quick)
        runs, n_init = (SEARCH_RUNS, 1) if len(found) > 1 else (RUNS, N_INIT)
        if quick:
            runs = SEARCH_RUNS
        jobs += [clustering(method, name, point, runs, n_init) for point in found]
    return sorted(jobs, key=_cost)


def best_jobs(jobs: Iterable[Job], results: Iterable[Job]) -> list[Job]:
    """Return, for every grid among `jobs`, the jobs of its best points with all runs."""
    searched = {key(job) for job in jobs if job.get("n_init") == 1}
    groups: dict[tuple[str, str], list[Job]] = {}
    for result in results:
        if key(result) in searched and "ACC" in result:
            groups.setdefault((result["data"], result["method"]), []).append(result)
    best = [
        clustering(method, data, result["parameters"], RUNS, N_INIT)
        for (data, method), found in groups.items()
        for result in sorted(found, key=lambda result: -result["ACC"])[:FINALISTS]
    ]
    return sorted(best, key=_cost)


def runtime_jobs(quick: bool = False) -> list[Job]:
    """Return the jobs of the appendix's runtimes; quick ones are small and need no data."""
    content = read("runtimes")
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
    """Return the jobs of the figure of sparsity patterns."""
    entry = read("figures")["sparsity"]
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
    """Return the jobs of the figure of alternating steps; the last one finds the optimum."""
    entry = read("figures")["alternating"]
    weights = {name: entry[name] for name in ("eta1", "eta2", "eta3")}
    steps = entry["steps"][:2] if quick else entry["steps"]
    extras = [*({"alternating_steps": step} for step in steps), {"solver": "newton"}]
    return [
        {
            "kind": "alternating",
            "data": entry["data"],
            "method": "J-DSSC",
            "parameters": {**weights, **extra},
            "seed": SEED,
        }
        for extra in extras
    ]


OTHERS: dict[str, Callable[[bool], list[Job]]] = {
    "runtimes": runtime_jobs,
    "sparsity": sparsity_jobs,
    "alternating": alternating_jobs,
    "samples": lambda quick: [],
}


def _usual(table):
    methods = read("methods")
    if table == "neural":
        return NEURAL_METHODS
    return [name for name in methods_of(table) if not methods[name].get("optional")]


def _cost(job):
    return read("datasets")[job["data"]]["n"] ** 2 * read("methods")[job["method"]]["weight"]
