"""The main table of the reproduction: a row per method, a column per data set, ours and theirs."""

from collections.abc import Iterable

from dssc.paper.experiments import Job
from dssc.paper.published import paper_data, title
from dssc.paper.render import Cell, Table
from dssc.paper.table_rows import Row, table_rows

# The tables whose accuracies are shown.
SHOWN = ("table1", "table2")
# A larger difference from the paper's accuracy is bold, and needs an explanation.
LARGE_DIFFERENCE = 0.02


def overview_table(lines: Iterable[Job]) -> Table:
    """Return the accuracies of all methods as "ours / paper", on the data sets that both have.

    Variants of a method are shown only if the paper has no such method, as post-processed LSR.
    """
    lines = list(lines)
    rows = [row for table in SHOWN for row in table_rows(table, lines)]
    main = {(row.method, row.data): row for row in rows if _is_main(row.method)}
    compared = {place: row for place, row in main.items() if _difference(row) is not None}
    data = [name for name in paper_data("datasets") if any(name == place[1] for place in compared)]
    methods = [name for name in paper_data("methods") if any(name == place[0] for place in main)]
    n_large = sum(map(_is_far, compared.values()))
    table = Table(
        "Accuracy of all methods",
        ["ACC, ours / paper", *(title("datasets", name) for name in data)],
        notes=[
            f"Of {len(compared)} accuracies of the paper that were run, {len(compared) - n_large} "
            f"are within {_short(LARGE_DIFFERENCE, 2)} of ours; the other {n_large} are bold. A "
            "dash: not run, or not in the paper."
        ],
    )
    for method in methods:
        places = [main.get((method, name)) for name in data]
        cells = [Cell() if row is None else Cell(_text(row), _is_far(row)) for row in places]
        table.rows.append([Cell(title("methods", method)), *cells])
    return table


def _is_main(method: str) -> bool:
    """Return whether a method is the paper's, or another affinity of one."""
    entry = paper_data("methods")[method]
    return "paper" not in entry or "affinity" in entry


def _difference(row: Row) -> float | None:
    """Return our accuracy minus the paper's, to its three digits, or None if one is missing."""
    is_variant = "paper" in paper_data("methods")[row.method]  # the paper's number is another's
    difference = None if is_variant else row.difference("ACC")
    return None if difference is None else round(difference, 3)


def _is_far(row: Row) -> bool:
    difference = _difference(row)
    return difference is not None and abs(difference) > LARGE_DIFFERENCE


def _text(row: Row) -> str:
    is_variant = "paper" in paper_data("methods")[row.method]
    paper = None if is_variant else row.paper.get("ACC")
    ours = _short(row.ours["ACC"]) if row.ours else "-"
    theirs = _short(paper) if isinstance(paper, int | float) else "-"
    return "" if ours == theirs == "-" else f"{ours} / {theirs}"


def _short(number: float, digits: int = 3) -> str:
    """Return a number without the zero before its point."""
    return f"{number:.{digits}f}".removeprefix("0")
