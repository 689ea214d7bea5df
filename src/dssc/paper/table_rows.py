"""The rows of the clustering tables, from results and published numbers."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dssc.paper.experiments import Job, data_of, methods_of, points, seeds_for
from dssc.paper.published import METRICS, paper_data, published_numbers

# The note of a row without results.
NOT_RUN = "not run"


@dataclass
class Row:
    """A method on a data set: our result, if there is one, and the paper's.

    Attributes
    ----------
    data, method : str
        The data set and the method.
    paper : dict
        The published numbers by metric.
    ours : dict or None
        Our line of results.
    note : str
        The parameters, or the reason why there is no result.
    best : set of str
        Columns to set in bold.
    """

    data: str
    method: str
    paper: dict[str, Any]
    ours: Job | None = None
    note: str = NOT_RUN
    best: set[str] = field(default_factory=set)

    def difference(self, metric: str) -> float | None:
        """Return our number minus the paper's, or None if one of them is missing."""
        ours, paper = (self.ours or {}).get(metric), self.paper.get(metric)
        if ours is None or not isinstance(paper, int | float):
            return None
        return ours - paper


def result_text(result: Job) -> str:
    """Return a result as a line of text."""
    head = f"{result['data']} {result['method']} {parameters_text(result['parameters'])}"
    if paper_data("methods").get(result["method"], {}).get("trainings"):
        head += f", seed={result['seed']}"
    if "error" in result:
        return f"{head}: {result['error']}"
    shown = [f"{name} {result[name]:.3f}" for name in ("ACC", "NMI", "SPE") if name in result]
    shown += [f"{result['seconds']:.1f} s"] if "seconds" in result else []
    shown += [f"stopped after {result['limit']} s"] if "limit" in result else []
    return f"{head}: {', '.join(shown)}"


def parameters_text(parameters: dict[str, Any]) -> str:
    """Return parameters as text, without those that only select a variant."""
    hidden = {"symmetric", "solver", "scale", "tol", "kernels", "channels", "start"}
    if "scale" in parameters:  # a projection; of a clustering, max_iter is shown
        hidden.add("max_iter")
    shown = {name: value for name, value in parameters.items() if name not in hidden}
    return ", ".join(
        f"{name}={value}" if isinstance(value, str) else f"{name}={value:g}"
        for name, value in shown.items()
    )


def table_rows(table: str, lines: Iterable[Job]) -> list[Row]:
    """Return the rows of a table from lines of results."""
    lines = list(lines)
    rows = []
    for data in data_of(table):
        group = [_row(table, data, method, lines) for method in methods_shown(table, data)]
        _mark_best(group)
        rows += group
    return rows


def methods_shown(table: str, data: str) -> list[str]:
    """Return the methods shown for a data set: the paper's, and variants meant for its size."""
    return [
        method
        for method in methods_of(table)
        if points(method, data) or _is_published(table, data, method)
    ]


def _is_published(table: str, data: str, method: str) -> bool:
    """Return whether a method belongs to the paper's table."""
    if table == "neural":
        return method in published_numbers(table).get(data, {})
    return "paper" not in paper_data("methods")[method]


def _row(table: str, data: str, method: str, lines: list[Job]) -> Row:
    entry = paper_data("methods")[method]
    row = Row(data, method, _published(table, data, entry.get("paper", method)))
    if "not_run" in entry:
        row.note = f"not run: {entry['not_run']}"
        return row
    own = [line for line in lines if _belongs(line, data, method)]
    with_result = [line for line in own if "ACC" in line]
    without_data = [line for line in lines if line["data"] == data and line.get("missing")]
    n_points = len(points(method, data))
    if with_result:
        row.ours = _mean(with_result) if "trainings" in entry else _best(with_result)
        row.note = parameters_text(row.ours["parameters"])
        if "trainings" in entry:
            row.note += f" ({_trainings_text(row.ours)})"
        n_tried = len({str(line["parameters"]) for line in own})
        if n_points > 1:
            of_all = "" if n_tried >= n_points else f" of {n_points}"
            row.note += f" (best of {n_tried}{of_all})"
    elif own or without_data:
        row.note = f"cannot be run: {(own or without_data)[0]['error']}"
    elif n_points == 0:
        needs_images = "affinity" in entry
        row.note = (
            f"not run: {'needs images' if needs_images else 'not meant for data of this size'}"
        )
    return row


def _published(table: str, data: str, method: str) -> dict[str, Any]:
    """Return the published numbers; the comparison with networks lacks some of Table 1."""
    for source in (table, "table1") if table == "neural" else (table,):
        numbers = published_numbers(source).get(data, {}).get(method)
        if numbers is not None:
            return numbers
    return {}


def _belongs(line: Job, data: str, method: str) -> bool:
    """Return whether a line is a clustering of the data by the method, with the table's runs."""
    identity = line["data"], line["method"], line.get("seeds")
    return line["kind"] == "clustering" and identity == (data, method, seeds_for(data, method))


def _best(lines: list[Job]) -> Job:
    """Return the best of the lines with the most runs of k-means."""
    most_runs = max(line["runs"] for line in lines)
    return max((line for line in lines if line["runs"] == most_runs), key=lambda line: line["ACC"])


def _mean(lines: list[Job]) -> Job:
    """Return the mean of several trainings of a network with the most runs of k-means."""
    most_runs = max(line["runs"] for line in lines)
    last = [line for line in lines if line["runs"] == most_runs][-1]
    # A seed that was repeated, on another device say, counts once.
    by_seed = {
        line["seed"]: line
        for line in lines
        if (line["runs"], line["parameters"]) == (most_runs, last["parameters"])
    }
    trained = [by_seed[seed] for seed in sorted(by_seed)]
    means = {
        name: float(np.mean([line[name] for line in trained]))
        for name in (*METRICS, "fit_ACC", "seconds")
        if all(name in line for line in trained)
    }
    return {**last, **means, "ACC_of_trainings": [line["ACC"] for line in trained]}


def _trainings_text(line: Job) -> str:
    """Return the number of trainings behind a mean, and the spread of their ACC."""
    each = line["ACC_of_trainings"]
    if len(each) == 1:
        return "1 training"
    return f"{len(each)} trainings, ACC {min(each):.3f} to {max(each):.3f}"


def _mark_best(rows: list[Row]) -> None:
    """Mark our best number and the paper's best number of every metric that has a best."""
    for metric, better in (("ACC", max), ("NMI", max), ("SPE", min)):
        ours = [row.ours[metric] for row in rows if row.ours]
        theirs = [row.paper[metric] for row in rows if isinstance(row.paper.get(metric), float)]
        for row in rows:
            if row.ours and f"{row.ours[metric]:.3f}" == f"{better(ours):.3f}":
                row.best.add(metric)
            is_variant = "paper" in paper_data("methods")[row.method]  # repeats the paper's row
            if theirs and not is_variant and row.paper.get(metric) == better(theirs):
                row.best.add(f"paper {metric}")
