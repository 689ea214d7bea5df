"""The main table of the reproduction: a row per method, a column per data set, ours and theirs."""

from collections.abc import Iterable

from dssc.paper.experiments import Job
from dssc.paper.published import paper_data, title
from dssc.paper.render import Cell, Table
from dssc.paper.table_rows import Row, table_rows

# The tables whose accuracies are shown.
SHOWN = ("table1", "table2")


def overview_table(lines: Iterable[Job]) -> Table:
    """Return the accuracies of all methods on all data sets, as "ours / paper".

    Variants of a method are shown only if the paper has no such method, as post-processed LSR.
    """
    lines = list(lines)
    rows = [row for table in SHOWN for row in table_rows(table, lines)]
    by_place = {(row.method, row.data): row for row in rows}
    data = list(dict.fromkeys(row.data for row in rows))
    methods = [name for name in paper_data("methods") if _is_main(name, rows)]
    table = Table(
        "Accuracy of all methods",
        ["ACC, ours / paper", *(title("datasets", name) for name in data)],
        notes=["A dash: not run, or not in the paper."],
    )
    for method in methods:
        cells = [_text(by_place.get((method, name))) for name in data]
        table.rows.append([Cell(title("methods", method)), *map(Cell, cells)])
    return table


def _is_main(method: str, rows: list[Row]) -> bool:
    """Return whether a method is the paper's, or another affinity of one."""
    entry = paper_data("methods")[method]
    shown = any(row.method == method for row in rows)
    return shown and ("paper" not in entry or "affinity" in entry)


def _text(row: Row | None) -> str:
    if row is None:
        return ""
    is_variant = "paper" in paper_data("methods")[row.method]  # the paper's number is another's
    paper = None if is_variant else row.paper.get("ACC")
    ours = f"{row.ours['ACC']:.3f}" if row.ours else "-"
    theirs = f"{paper:.3f}" if isinstance(paper, int | float) else "-"
    return "" if ours == theirs == "-" else f"{ours} / {theirs}"
