"""The tables and pictures of the experiments, written from lines of results."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from dssc.paper.experiments import Job, data_of, seeds_for
from dssc.paper.overview import SHOWN, overview_table
from dssc.paper.published import METRICS, paper_data, title
from dssc.paper.render import Cell, Table
from dssc.paper.table_rows import NOT_RUN, Row, table_rows

# Digits after the point, where there are not three.
DIGITS = {"NNZ": 1}
# Metrics with a column for the difference from the paper.
METRICS_COMPARED = ("ACC", "NMI")
# Headings of the clustering tables.
TITLES = {
    "table1": "Table 1: clustering",
    "table2": "Table 2: large data",
    "neural": "Comparison with neural networks",
}
# Explanation of the clustering tables.
NOTE = (
    "ACC and NMI: mean over the number of k-means runs in the last column, on one embedding, as in "
    "the paper{runs}. The best number of a data set is bold, separately for ours and the paper's. "
    "One fit: ACC of one fit_predict with n_init=10. Seconds: of that fit, or of a fit with "
    "n_init=1 if there are only ten runs; the device is named if it was not the CPU. Peak: memory "
    "of the process during that fit, with its data and libraries, if it was measured. Networks: "
    "mean over trainings from different seeds. DSC-Net's post-processing ends with a "
    "discretisation, and its runs are those."
)


def write_pages(names: Iterable[str], lines: Sequence[Job], folder: Path) -> list[Path]:
    """Write the tables and pictures of the named experiments; return the paths."""
    written = []
    for name in names:
        written += _pictures(name, lines, folder)
        if name == "samples":
            continue
        table = clustering_table(name, lines) if name in TITLES else OTHER_TABLES[name](lines)
        texts = {"md": table.markdown(), "csv": table.csv(), "html": table.html()}
        for ending, text in texts.items():
            written.append(folder / f"{name}.{ending}")
            written[-1].write_text(text, encoding="utf-8")
        if name in SHOWN:
            written.append(folder / "overview.md")
            written[-1].write_text(overview_table(lines).markdown(), encoding="utf-8")
    return list(dict.fromkeys(written))


def _pictures(name: str, lines: Sequence[Job], folder: Path) -> list[Path]:
    """Draw the pictures that need only lines and data; jobs draw the sparsity patterns."""
    from dssc.paper import figures

    picture = None
    if name == "samples":
        picture = figures.draw_samples(folder)
    elif name == "alternating":
        steps = [row for row in alternating_steps(lines) if row[0] != "optimum"]
        known = [(step, line, error) for step, line, error in steps if error is not None]
        picture = figures.draw_alternating(known, folder) if known else None
    return [] if picture is None else [picture]


def clustering_table(name: str, lines: Sequence[Job]) -> Table:
    """Return Table 1, Table 2 or the comparison with neural networks."""
    metrics = ("ACC",) if name == "neural" else METRICS
    header = ["data", "method", "parameters"]
    for metric in metrics:
        header += [metric, f"paper {metric}"]
        header += [f"{metric} difference"] if metric in METRICS_COMPARED else []
    header += ["one fit ACC", "seconds", "peak GB", "runs"]
    kinds = {seeds for data in data_of(name) if (seeds := seeds_for(data))}
    runs = f" ({', '.join(sorted(kinds))})" if name == "table2" else ""
    rows = [
        [
            Cell(title("datasets", row.data)),
            Cell(title("methods", row.method)),
            Cell(row.note),
            *_cells(row, metrics),
        ]
        for row in table_rows(name, lines)
    ]
    return Table(TITLES[name], header, rows, notes=[NOTE.format(runs=runs)])


def _cells(row: Row, metrics: Sequence[str]) -> list[Cell]:
    ours = row.ours or {}
    cells = []
    for metric in metrics:
        digits = DIGITS.get(metric, 3)
        paper = row.paper.get(metric, "")
        cells.append(Cell(_number(ours.get(metric), digits), metric in row.best))
        cells.append(Cell(_number(paper, digits), f"paper {metric}" in row.best))
        if metric in METRICS_COMPARED:
            difference = row.difference(metric)
            cells.append(Cell("" if difference is None else f"{difference:+.3f}"))
    fit = ours.get("fit_ACC") if ours.get("n_init", 1) > 1 else None
    peak = ours["peak_MB"] / 1024 if "peak_MB" in ours else None
    last = _number(fit), _seconds(ours), _number(peak, 2), str(ours.get("runs", ""))
    return [*cells, *map(Cell, last)]


def _seconds(line: Job) -> str:
    """Return the seconds of a clustering, with the device if it was not the CPU."""
    device = line.get("device", "cpu")
    return _number(line.get("seconds"), 1) + ("" if device == "cpu" else f" ({device})")


def runtimes_table(lines: Sequence[Job]) -> Table:
    """Return the runtimes of the projection's solvers."""
    content = paper_data("runtimes")
    problems = content["problems"]
    header = ["solver"] + [text for name in problems for text in (name, f"paper {name}")]
    notes = [
        *(f"{name}: {content[name]['title']}." for name in problems),
        f"Seconds until all sums are within {content['tol']:g} of one; NC: not converged in "
        f"{content['max_iter']} iterations; ours were stopped after {content['limit']} s. The "
        "paper used another machine.",
    ]
    table = Table("Runtimes of the doubly stochastic projection", header, notes=notes)
    timed = (line for line in lines if line["kind"] == "projection")
    by_problem: dict[tuple[str, str], Job] = {
        # A run at full size comes later, and replaces a quick one.
        (line["data"], line["method"]): line
        for line in sorted(timed, key=lambda line: line["parameters"]["scale"])
    }
    for solver, entry in content["solvers"].items():
        cells = [Cell(entry["title"])]
        for name, paper in zip(problems, entry["seconds"], strict=True):
            cells += [_runtime(by_problem.get((name, solver))), Cell(str(paper))]
        table.rows.append(cells)
    for column in range(1, len(header)):
        _mark_fastest(table.rows, column)
    return table


def _runtime(line: Job | None) -> Cell:
    if line is None:
        return Cell(NOT_RUN)
    if "error" in line:
        return Cell(f"cannot be run: {line['error']}")
    size = "" if line["parameters"]["scale"] == 1 else f" (n = {line['n']})"
    if "limit" in line:
        return Cell(f"NC (stopped after {line['limit']} s){size}")
    if not line["reached"]:
        return Cell(f"NC ({line['marginal_error']:.0e} after {line['seconds']:.0f} s){size}")
    return Cell(f"{line['seconds']:.2f}{size}")


def _mark_fastest(rows: list[list[Cell]], column: int) -> None:
    """Set the shortest time of a column in bold."""
    timed = [row for row in rows if row[column].text[:1].isdigit()]
    if timed:
        fastest = min(timed, key=lambda row: float(row[column].text.split()[0]))
        fastest[column] = Cell(fastest[column].text, bold=True)


def sparsity_table(lines: Sequence[Job]) -> Table:
    """Return the numbers of the sparsity patterns."""
    entry = paper_data("figures")["sparsity"]
    by_eta2 = {line["parameters"]["eta2"]: line for line in lines if line["kind"] == "sparsity"}
    notes = [
        f"J-DSSC's A on the first {entry['classes']} classes of Yale-B, eta1 = {entry['eta1']}, "
        f"eta3 = {entry['eta3']:g}. The paper: {entry['claim']}."
    ]
    shown = [(eta2, by_eta2.get(eta2, {})) for eta2 in entry["eta2"]]
    pictures = [
        (f"eta2 = {eta2:g}", f"sparsity-{eta2:g}.png") for eta2, line in shown if "NNZ" in line
    ]
    header = ["eta2", "nonzeros per point", "SPE"]
    rows = [
        [
            Cell(f"{eta2:g}"),
            Cell(_number(line.get("NNZ"), 1) or NOT_RUN),
            Cell(_number(line.get("SPE"))),
        ]
        for eta2, line in shown
    ]
    return Table("Sparsity of A", header, rows, notes, pictures)


def alternating_table(lines: Sequence[Job]) -> Table:
    """Return objective and accuracy against alternating steps."""
    entry = paper_data("figures")["alternating"]
    point = ", ".join(f"{name} = {entry[name]:g}" for name in ("eta1", "eta2", "eta3"))
    steps = alternating_steps(lines)
    notes = [f"UMIST, {point}. The paper: {entry['claim']}."]
    known = any(error is not None for _, _, error in steps)
    pictures = [("relative error and accuracy", "alternating.png")] if known else []
    header = ["steps", "objective", "relative error", "ACC from A", "ACC from C"]
    table = Table("Alternating minimisation", header, notes=notes, pictures=pictures)
    for step, line, error in steps:
        cells = [
            _number(line.get("objective"), 4),
            "" if error is None else f"{100 * error:.2f} %",
            _number(line.get("ACC")),
            _number(line.get("ACC_of_C")),
        ]
        table.rows.append([Cell(str(step)), *map(Cell, cells if line else [NOT_RUN] * 4)])
    return table


def alternating_steps(lines: Sequence[Job]) -> list[tuple[Any, Job, float | None]]:
    """Return (number of steps or "optimum", line, relative error of the objective) in order."""
    by_steps = {
        line["parameters"].get("alternating_steps", "optimum"): line
        for line in lines
        if line["kind"] == "alternating" and "objective" in line
    }
    optimum = by_steps.get("optimum", {}).get("objective")
    steps = [*paper_data("figures")["alternating"]["steps"], "optimum"]
    shown = [(step, by_steps.get(step, {})) for step in steps]
    return [
        (step, line, line["objective"] / optimum - 1 if line and optimum else None)
        for step, line in shown
    ]


def _number(value: float | str | None, digits: int = 3) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    # A small number must not look like zero: 0.00003 gets more digits.
    return f"{value:.{digits if value == 0 or value >= 0.5 / 10**digits else 5}f}"


# The tables of the other experiments.
OTHER_TABLES: dict[str, Callable[[Sequence[Job]], Table]] = {
    "runtimes": runtimes_table,
    "sparsity": sparsity_table,
    "alternating": alternating_table,
}
