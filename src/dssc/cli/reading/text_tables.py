"""Tables of numbers in text files, with a row per sample, with or without a column of labels.

Cells are separated by commas, semicolons, tabs or blanks, whichever the first line has. Columns
without names are called 1, 2, 3 and so on.
"""

import csv
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TextIO

import numpy as np

from dssc._typing import Array
from dssc.cli.exits import CommandError
from dssc.cli.reading.columns import choose_columns
from dssc.cli.reading.reader import ReadOptions
from dssc.cli.reading.samples import Samples

# Characters that separate cells, if the first line has one of them; otherwise blanks do.
DELIMITERS = ",;\t"
# Cells without a value, in lower case.
EMPTY_CELLS = ("", "na", "n/a", "null", "none")

# Line numbers and cells.
Rows = Iterator[tuple[int, list[str]]]


# The options that apply to these files.
options = ("drop", "header")


def read(path: Path, options: ReadOptions) -> Samples:
    """Read the samples, and their labels if the table has a column of that name."""
    with _open(path) as file:
        rows = _split_rows(file)
        line, first = next(rows, (0, []))
        if not first:
            raise CommandError(f"{path} is empty")
        header = options.header
        if header is None:
            header = not any(map(_is_number, first))
        if header:
            names = [cell.strip() for cell in first]
        else:
            names = [str(number) for number in range(1, len(first) + 1)]
            rows = chain([(line, first)], rows)
        label, features = choose_columns(path, names, options.labels, options.drop)
        return _read_rows(path, rows, names, label, features)


def read_labels(path: Path) -> Array:
    """Read the last cell of each line; the first line may be a heading."""
    with _open(path) as file:
        cells = [row[-1].strip() for _, row in _split_rows(file)]
    if len(cells) > 1 and all(map(_is_number, cells[1:])) and not _is_number(cells[0]):
        cells = cells[1:]
    return np.array(cells)


@contextmanager
def _open(path: Path) -> Iterator[TextIO]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            yield file
    except UnicodeDecodeError as error:
        raise CommandError(f"{path} is not text in UTF-8: {error}") from error
    except csv.Error as error:
        raise CommandError(f"{path} is not a table in text: {error}") from error


def _split_rows(file: TextIO) -> Rows:
    """Yield the line number and the cells of each line that is not blank."""
    first = next((line for line in file if line.strip()), "")
    file.seek(0)
    counts = {delimiter: first.count(delimiter) for delimiter in DELIMITERS}
    delimiter = max(counts, key=counts.__getitem__)
    if counts[delimiter]:
        reader = csv.reader(file, delimiter=delimiter)
        for row in reader:
            if any(row):
                yield reader.line_num, row
    else:
        for line, text in enumerate(file, start=1):
            if cells := text.split():
                yield line, cells


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _read_rows(
    path: Path, rows: Rows, names: Sequence[str], label: int | None, features: list[int]
) -> Samples:
    values, classes, lines = array("d"), [], []
    all_are_features = len(features) == len(names)
    for line, row in rows:
        if len(row) != len(names):
            raise CommandError(
                f"{path}, line {line}: {len(row)} cells where the first line has {len(names)}; "
                "every row needs the same number"
            )
        cells = row if all_are_features else [row[index] for index in features]
        try:
            numbers = list(map(float, cells))
        except ValueError:
            numbers = [_number(path, line, names[i], row[i]) for i in features]
        values.extend(numbers)
        lines.append(line)
        if label is not None:
            if not row[label].strip():
                raise CommandError(
                    f"{path}, line {line}: the column of labels {names[label]!r} is empty"
                )
            classes.append(row[label].strip())
    X = np.frombuffer(values).reshape(len(lines), len(features))
    return Samples(str(path), X, np.array(classes) if label is not None else None, lines=lines)


def _number(path: Path, line: int, name: str, cell: str) -> float:
    if cell.strip().lower() in EMPTY_CELLS:
        return np.nan
    if _is_number(cell):
        return float(cell)
    hint = ", or add --header if this line has the names of the columns" if line == 1 else ""
    raise CommandError(
        f"{path}, line {line}, column {name!r}: {cell!r} is not a number; correct it, leave the "
        f"column out with --drop, or name it with --labels{hint}"
    )
