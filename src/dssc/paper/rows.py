"""From results and published numbers to the rows of tables."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from dssc.paper.experiments import Job, data_of, methods_of, points, seeds_for
from dssc.paper.published import METRICS, published, read, title

NOT_RUN = "not run"


@dataclass
class Row:
    """A method on a data set: ours, where it was run, and the paper's."""

    data: str
    method: str
    paper: dict[str, Any]
    ours: Job | None = None
    note: str = NOT_RUN
    best: set[str] = field(default_factory=set)  # columns to set in bold

    def difference(self, metric: str) -> float | None:
        """Return ours less the paper's, where there are both."""
        ours, paper = (self.ours or {}).get(metric), self.paper.get(metric)
        if ours is None or not isinstance(paper, int | float):
            return None
        return ours - paper


def in_words(result: Job) -> str:
    """Return a result as a line for people."""
    head = f"{result['data']} {result['method']} {point_in_words(result['parameters'])}"
    if "error" in result:
        return f"{head}: {result['error']}"
    shown = [f"{name} {result[name]:.3f}" for name in ("ACC", "NMI", "SPE") if name in result]
    shown += [f"{result['seconds']:.1f} s"] if "seconds" in result else []
    shown += [f"stopped after {result['limit']} s"] if "limit" in result else []
    return f"{head}: {', '.join(shown)}"


def point_in_words(parameters: dict[str, Any]) -> str:
    """Return parameters as text, without those that only choose a variant."""
    hidden = {"symmetric", "solver", "scale", "tol"}
    if "scale" in parameters:  # of a projection; the iterations of a clustering are of interest
        hidden.add("max_iter")
    shown = {name: value for name, value in parameters.items() if name not in hidden}
    return ", ".join(
        f"{name}={value}" if isinstance(value, str) else f"{name}={value:g}"
        for name, value in shown.items()
    )


def table_rows(table: str, lines: Iterable[Job]) -> list[Row]:
    """Return the rows of a table from lines of results."""
    lines, numbers = list(lines), published(table)
    rows = []
    for data in data_of(table):
        group = [_row(table, data, method, numbers, lines) for method in shown(table, data)]
        _mark_best(group)
        rows += group
    return rows


def shown(table: str, data: str) -> list[str]:
    """Return the methods of a data set: the paper's, and variants that are meant for its size."""
    return [
        method
        for method in methods_of(table)
        if "paper" not in read("methods")[method] or points(method, data)
    ]


def _row(table, data, method, numbers, lines):
    entry = read("methods")[method]
    paper = numbers.get(data, {}).get(entry.get("paper", method), {})
    row = Row(data, method, paper)
    if "cannot" in entry:
        row.note = f"not run: {entry['cannot']}"
        return row
    found = [line for line in lines if _belongs(line, data, method)]
    searched = [line for line in found if "ACC" in line]
    total = len(points(method, data))
    if searched:
        row.ours = _best(searched)
        row.note = point_in_words(row.ours["parameters"])
        tried = len({str(line["parameters"]) for line in found})
        if total > 1:
            row.note += f" (best of {tried}" + ("" if tried >= total else f" of {total}") + ")"
    elif found:
        row.note = f"cannot be run: {found[0]['error']}"
    elif lacking := [line for line in lines if line["data"] == data and line.get("missing")]:
        row.note = f"cannot be run: {lacking[0]['error']}"
    elif total == 0:
        row.note = "not run: not meant for data of this size"
    return row


def _belongs(line, data, method):
    place = line["data"], line["method"], line.get("seeds")
    return line["kind"] == "clustering" and place == (data, method, seeds_for(data))


def _best(lines):
    """Return the best of the lines with the most runs of k-means."""
    most = max(line["runs"] for line in lines)
    return max((line for line in lines if line["runs"] == most), key=lambda line: line["ACC"])


def _mark_best(rows):
    """Mark the best of ours and the best of the paper's for every metric that has a best."""
    for metric, better in (("ACC", max), ("NMI", max), ("SPE", min)):
        ours = [row.ours[metric] for row in rows if row.ours]
        theirs = [row.paper[metric] for row in rows if isinstance(row.paper.get(metric), float)]
        for row in rows:
            if row.ours and f"{row.ours[metric]:.3f}" == f"{better(ours):.3f}":
                row.best.add(metric)
            beyond = "paper" in read("methods")[row.method]  # repeats the paper's own row
            if theirs and not beyond and row.paper.get(metric) == better(theirs):
                row.best.add(f"paper {metric}")


def labels_of(row: Row) -> tuple[str, str]:
    """Return the names of a row's data set and method for people."""
    return title("datasets", row.data), title("methods", row.method)


def metrics_of(table: str) -> tuple[str, ...]:
    """Return the metrics a table shows."""
    return ("ACC",) if table == "neural" else METRICS
