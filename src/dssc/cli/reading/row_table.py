"""Tables that are read row by row: names of columns, numbers, labels, and errors with a place."""

from array import array
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

import numpy as np

from dssc.cli.exits import CommandError
from dssc.cli.reading.columns import Columns, choose_columns
from dssc.cli.reading.numbers import POINT, Numbers
from dssc.cli.reading.reader import ReadOptions
from dssc.cli.reading.row_numbers import warn_of_row_numbers
from dssc.cli.reading.samples import Samples

# A value of a table: text, or a number where the format has numbers. An empty text is no value.
Cell = str | float
# Line numbers and cells.
Rows = Iterator[tuple[int, Sequence[Cell]]]

# Cells without a value, in lower case.
EMPTY_CELLS = ("", "na", "n/a", "null", "none")


def read_with_header(
    path: Path, rows: Rows, options: ReadOptions, numbers: Numbers = POINT, *, line: str = "line"
) -> Samples:
    """Read a table whose first row may have the names of the columns.

    Columns without names are called 1, 2, 3 and so on.

    Parameters
    ----------
    path : Path
        The file, for messages.
    rows : iterator of (int, sequence of cells)
        The rows that are not empty, with their numbers in the file.
    options : ReadOptions
        Which columns are features, labels and names.
    numbers : Numbers
        How numbers are written.
    line : str
        What a row of this format is called.
    """
    place, first = next(rows, (0, []))
    if not first:
        raise CommandError(f"{path} is empty")
    header = options.header
    if header is None:
        header = not any(map(numbers.is_number, first))
    if header:
        names = [str(cell).strip() for cell in first]
    else:
        names = [str(number) for number in range(1, len(first) + 1)]
        rows = chain([(place, first)], rows)
    return read_rows(path, rows, choose_columns(path, names, options), numbers, line=line)


def read_rows(
    path: Path, rows: Rows, columns: Columns, numbers: Numbers = POINT, *, line: str = "line"
) -> Samples:
    """Read the rows below the names of the columns; see `read_with_header`."""
    values = array("d")
    labels: list[str] = []
    identities: list[str] = []
    lines: list[int] = []
    names = columns.names
    all_are_features = len(columns.features) == len(names)
    for place, row in rows:
        if len(row) != len(names):
            raise CommandError(
                f"{path}, {line} {place}: {len(row)} cells where the first {line} has "
                f"{len(names)}; every row needs the same number"
            )
        cells = row if all_are_features else [row[index] for index in columns.features]
        try:
            values.extend(numbers.parse(cells))
        except (ValueError, OverflowError):
            where = f"{path}, {line} {place}"
            values.extend(_number(where, names[i], row[i], numbers) for i in columns.features)
        lines.append(place)
        if columns.label is not None:
            labels.append(_text(f"{path}, {line} {place}", "labels", names, columns.label, row))
        if columns.id is not None:
            identities.append(_text(f"{path}, {line} {place}", "names", names, columns.id, row))
    X = np.frombuffer(values).reshape(len(lines), len(columns.features))
    return Samples(
        str(path),
        X,
        np.array(labels) if columns.label is not None else None,
        names=identities if columns.id is not None else None,
        name_column=names[columns.id] if columns.id is not None else None,
        lines=lines,
        columns=[names[index] for index in columns.features],
        warnings=warn_of_row_numbers(str(path), X, [names[i] for i in columns.features]),
    )


def _number(where: str, name: str, cell: Cell, numbers: Numbers) -> float:
    if numbers.is_number(cell):
        return numbers.parse([cell])[0]
    if isinstance(cell, str) and cell.strip().lower() in EMPTY_CELLS:
        return np.nan
    hint = ", or add --header if this line has the names of the columns"
    raise CommandError(
        f"{where}, column {name!r}: {cell!r} is not a number; correct it, leave the column out "
        f"with --drop, or name it with --labels or --id"
        f"{hint if where.endswith('line 1') else ''}{numbers.hint(str(cell))}"
    )


def _text(where: str, role: str, names: Sequence[str], index: int, row: Sequence[Cell]) -> str:
    text = str(row[index]).strip()
    if not text:
        raise CommandError(f"{where}: the column of {role} {names[index]!r} is empty")
    return text
