"""The tables and pictures of the experiments, from lines of results to files."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from dssc.paper import rows
from dssc.paper.experiments import Job, data_of, seeds_for
from dssc.paper.published import read
from dssc.paper.render import Cell, Table

DIGITS = {"NNZ": 1}
DIFFERENCES = ("ACC", "NMI")
TITLES = {
    "table1": "Table 1: clustering",
    "table2": "Table 2: large data",
    "neural": "Beside neural networks",
}
NOTE = (
    "ACC and NMI: mean of so many runs of k-means on one embedding, as in the paper{runs}; the "
    "best of a data set in bold, ours and the paper's apart. One fit: ACC of one fit_predict with "
    "n_init=10. Seconds: of that fit, or of a fit with n_init=1 where there are ten runs only; the "
    "device is named where it was not the CPU. Peak: of the process during that fit, its data and "
    "libraries included, where it was measured."
)


def write_pages(names: Iterable[str], lines: Sequence[Job], folder: Path) -> list[Path]:
    """Write the tables and pictures of the experiments named; return the files."""
    written = []
    for name in names:
        written += _pictures(name, lines, folder)
        if name == "samples":
            continue
        table = clustering_table(name, lines) if name in TITLES else OTHERS[name](lines)
        texts = {"md": table.markdown(), "csv": table.csv(), "html": table.html()}
        for ending, text in texts.items():
            written.append(folder / f"{name}.{ending}")
            written[-1].write_text(text, encoding="utf-8")
    return written


def _pictures(name, lines, folder):
    """Draw what lines and data alone tell; sparsity patterns are drawn as they are found."""
    from dssc.paper import figures

    picture = None
    if name == "samples":
        picture = figures.draw_samples(folder)
    elif name == "alternating":
        steps = [row for row in alternating_steps(lines) if row[0] != "optimum"]
        known = [row for row in steps if row[2] is not None]
        picture = figures.draw_alternating(known, folder) if known else None
    return [] if picture is None else [picture]


def clustering_table(name: str, lines: Sequence[Job]) -> Table:
    """Return Table 1, Table 2 or the comparison with neural networks."""
    metrics = rows.metrics_of(name)
    header = ["data", "method", "parameters"]
    for metric in metrics:
        header += [metric, f"paper {metric}"]
        header += [f"{metric} difference"] if metric in DIFFERENCES else []
    header += ["one fit ACC", "seconds", "peak GB", "runs"]
    kinds = {seeds for data in data_of(name) if (seeds := seeds_for(data))}
    runs = f" ({', '.join(sorted(kinds))})" if name == "table2" else ""
    table = Table(TITLES[name], header, notes=[NOTE.format(runs=runs)])
    for row in rows.table_rows(name, lines):
        table.rows.append([*map(Cell, rows.labels_of(row)), Cell(row.note), *_cells(row, metrics)])
    return table


def _cells(row, metrics):
    ours = row.ours or {}
    cells = []
    for metric in metrics:
        digits = DIGITS.get(metric, 3)
        paper = row.paper.get(metric, "")
        cells.append(Cell(_number(ours.get(metric), digits), metric in row.best))
        cells.append(Cell(_number(paper, digits), f"paper {metric}" in row.best))
        if metric in DIFFERENCES:
            difference = row.difference(metric)
            cells.append(Cell("" if difference is None else f"{difference:+.3f}"))
    fit = ours.get("fit_ACC") if ours.get("n_init", 1) > 1 else None
    peak = ours["peak_MB"] / 1024 if "peak_MB" in ours else None
    ends = _number(fit), _clock(ours), _number(peak, 2), str(ours.get("runs", ""))
    return [*cells, *map(Cell, ends)]


def _clock(line):
    """Return a line's seconds, with the device they were measured on where it is not the CPU."""
    device = line.get("device", "cpu")
    return _number(line.get("seconds"), 1) + ("" if device == "cpu" else f" ({device})")


def runtimes_table(lines: Sequence[Job]) -> Table:
    """Return the runtimes of the projection's solvers."""
    content = read("runtimes")
    problems = content["problems"]
    header = ["solver"] + [text for name in problems for text in (name, f"paper {name}")]
    notes = [f"{name}: {content[name]['title']}." for name in problems]
    notes.append(
        f"Seconds until all sums are within {content['tol']:g} of one; NC: not in "
        f"{content['max_iter']} iterations; ours were stopped after {content['limit']} s. The "
        "paper's machine is another one."
    )
    table = Table("Runtimes of the doubly stochastic projection", header, notes=notes)
    timed = [line for line in lines if line["kind"] == "projection"]
    timed.sort(key=lambda line: line["parameters"]["scale"])  # the full size hides a quick one
    found: dict[Any, Job] = {(line["data"], line["method"]): line for line in timed}
    for solver, entry in content["solvers"].items():
        cells = [Cell(entry["title"])]
        for name, paper in zip(problems, entry["seconds"], strict=True):
            cells += [_seconds(found.get((name, solver))), Cell(str(paper))]
        table.rows.append(cells)
    for place in range(1, len(header)):
        _embolden(table.rows, place)
    return table


def _seconds(line):
    if line is None:
        return Cell(rows.NOT_RUN)
    if "error" in line:
        return Cell(f"cannot be run: {line['error']}")
    size = "" if line["parameters"]["scale"] == 1 else f" (n = {line['n']})"
    if "limit" in line:
        return Cell(f"NC (stopped after {line['limit']} s){size}")
    if not line["reached"]:
        return Cell(f"NC ({line['marginal_error']:.0e} after {line['seconds']:.0f} s){size}")
    return Cell(f"{line['seconds']:.2f}{size}")


def _embolden(cells, place):
    """Set the shortest time of a column in bold."""
    times = {
        i: float(row[place].text.split()[0]) for i, row in enumerate(cells) if _is_time(row, place)
    }
    if times:
        first = min(times, key=lambda i: times[i])
        cells[first][place] = Cell(cells[first][place].text, bold=True)


def _is_time(row, place):
    return row[place].text[:1].isdigit()


def sparsity_table(lines: Sequence[Job]) -> Table:
    """Return what belongs to the pictures of sparsity patterns."""
    entry = read("figures")["sparsity"]
    found = {line["parameters"]["eta2"]: line for line in lines if line["kind"] == "sparsity"}
    notes = [
        f"J-DSSC's A on the first {entry['classes']} classes of Yale-B, eta1 = {entry['eta1']}, "
        f"eta3 = {entry['eta3']:g}. The paper: {entry['says']}."
    ]
    drawn = [eta2 for eta2 in entry["eta2"] if "NNZ" in found.get(eta2, {})]
    pictures = [(f"eta2 = {eta2:g}", f"sparsity-{eta2:g}.png") for eta2 in drawn]
    header = ["eta2", "nonzeros a point", "SPE"]
    table = Table("Sparsity of A", header, notes=notes, pictures=pictures)
    for eta2 in entry["eta2"]:
        line = found.get(eta2, {})
        numbers = _number(line.get("NNZ"), 1) or rows.NOT_RUN, _number(line.get("SPE"))
        table.rows.append([Cell(f"{eta2:g}"), *map(Cell, numbers)])
    return table


def alternating_table(lines: Sequence[Job]) -> Table:
    """Return objective and accuracy against alternating steps."""
    entry = read("figures")["alternating"]
    point = ", ".join(f"{name} = {entry[name]:g}" for name in ("eta1", "eta2", "eta3"))
    steps = alternating_steps(lines)
    notes = [f"UMIST, {point}. The paper: {entry['says']}."]
    known = any(error is not None for _, _, error in steps)
    pictures = [("relative error and accuracy", "alternating.png")] if known else []
    header = ["steps", "objective", "relative error", "ACC from A", "ACC from C"]
    table = Table("Alternating minimisation", header, notes=notes, pictures=pictures)
    for step, line, error in steps:
        cells = [_number(line.get("objective"), 4), "" if error is None else f"{100 * error:.2f} %"]
        cells += [_number(line.get("ACC")), _number(line.get("ACC_of_C"))]
        table.rows.append([Cell(str(step)), *map(Cell, cells if line else [rows.NOT_RUN] * 4)])
    return table


def alternating_steps(lines: Sequence[Job]):
    """Return (steps or "optimum", line, relative error of the objective) in order."""
    found = {
        line["parameters"].get("alternating_steps", "optimum"): line
        for line in lines
        if line["kind"] == "alternating" and "objective" in line
    }
    least = found.get("optimum", {}).get("objective")
    steps = [*read("figures")["alternating"]["steps"], "optimum"]
    shown = [(step, found.get(step, {})) for step in steps]
    return [
        (step, line, line["objective"] / least - 1 if line and least else None)
        for step, line in shown
    ]


def _number(value, digits=3):
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    # A small error is not none: 0.00003 is not to read 0.000.
    return f"{value:.{digits if value == 0 or value >= 0.5 / 10**digits else 5}f}"


OTHERS = {
    "runtimes": runtimes_table,
    "sparsity": sparsity_table,
    "alternating": alternating_table,
}
