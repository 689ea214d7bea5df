"""Tables of numbers in text and parquet files, with a column of labels perhaps."""

import csv
import re
from array import array
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from dssc.cli.exits import CommandError
from dssc.cli.reading.samples import Samples

DELIMITERS = ",;\t"
MISSING = ("", "na", "n/a", "null", "none")
MOST_COLUMNS_SHOWN = 12
PANDAS_INDEX = re.compile(r"__index_level_\d+__")

Rows = Iterator[tuple[int, list[str]]]


def read_csv(path: Path, labels=None, drop=(), header=None) -> Samples:
    """Read a table whose rows are samples.

    Cells are separated by commas, semicolons, tabs or blanks, whichever the first line has. Columns
    without names are called 1, 2, 3 and so on.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = split_rows(file)
            line, first = next(rows, (0, []))
            if not first:
                raise CommandError(f"{path} is empty")
            if header is None:
                header = not any(map(is_number, first))
            names = [cell.strip() for cell in first] if header else _numbered(len(first))
            label, kept = _choose(path, names, labels, drop)
            if not header:
                rows = _with(line, first, rows)
            return _read_rows(path, rows, names, label, kept)
    except UnicodeDecodeError as error:
        raise CommandError(f"{path} is not text in UTF-8: {error}") from error


def read_parquet(path: Path, labels=None, drop=()) -> Samples:
    """Read a parquet file whose rows are samples."""
    try:
        from pyarrow import ArrowException, parquet
    except ImportError as error:
        raise CommandError(f"reading {path} needs pyarrow: pip install 'dssc[tables]'") from error
    try:
        table = parquet.read_table(path)
    except ArrowException as error:
        raise CommandError(f"{path} is no parquet file that can be read: {error}") from error
    names = table.column_names
    indices = [name for name in names if PANDAS_INDEX.fullmatch(name)]  # no features
    label, kept = _choose(path, names, labels, [*drop, *indices])
    columns = []
    for place in kept:
        column = table.column(place).to_numpy()
        if column.dtype.kind not in "biuf":
            raise CommandError(
                f"{path}: the column {names[place]!r} holds {table.schema.types[place]}, "
                "not numbers; leave it out with --drop, or name it with --labels"
            )
        columns.append(column.astype(np.float64))
    found = None if label is None else np.array([str(v) for v in table.column(label).to_pylist()])
    return Samples(str(path), np.stack(columns, axis=1), found)


def split_rows(file) -> Rows:
    """Yield line numbers and cells of the lines that are not blank."""
    first = file.readline()
    while first and not first.strip():
        first = file.readline()
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


def is_number(cell: str) -> bool:
    """Whether a cell holds a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _with(line, row, rows) -> Rows:
    yield line, row
    yield from rows


def _numbered(count):
    return [str(place) for place in range(1, count + 1)]


def _choose(path, names, labels, drop):
    """Return the place of the column of labels, or None, and the places of the features."""
    unknown = [name for name in drop if name not in names]
    if unknown:
        raise CommandError(f"{path} has no column {unknown[0]!r} to drop; it has {listed(names)}")
    nameless = [place for place, name in enumerate(names) if not name and name not in drop]
    if nameless:
        raise CommandError(
            f"{path}: column {nameless[0] + 1} has no name; if it holds the row numbers that "
            "pandas writes, leave it out with --drop '', otherwise name it"
        )
    label = names.index(labels) if labels in names else None
    kept = [place for place, name in enumerate(names) if place != label and name not in set(drop)]
    if not kept:
        raise CommandError(f"{path} has no columns left for features; it has {listed(names)}")
    return label, kept


def listed(names) -> str:
    """Return names for a message, the first ones where there are many."""
    shown = ", ".join(names[:MOST_COLUMNS_SHOWN])
    return f"{shown}, ... ({len(names)} in all)" if len(names) > MOST_COLUMNS_SHOWN else shown


def _read_rows(path, rows, names, label, kept):
    values, classes, lines = array("d"), [], []
    everything = len(kept) == len(names)
    for line, row in rows:
        if len(row) != len(names):
            raise CommandError(
                f"{path}, line {line}: {len(row)} cells where the first line has {len(names)}; "
                "every row needs the same number"
            )
        cells = row if everything else [row[place] for place in kept]
        start = len(values)
        try:
            values.extend(map(float, cells))
        except ValueError:
            del values[start:]
            values.extend(_number(path, line, names[p], row[p]) for p in kept)
        lines.append(line)
        if label is not None:
            classes.append(_class(path, line, names[label], row[label]))
    X = np.frombuffer(values).reshape(len(lines), len(kept))
    return Samples(str(path), X, np.array(classes) if label is not None else None, lines=lines)


def _number(path, line, name, cell):
    if cell.strip().lower() in MISSING:
        return np.nan
    if is_number(cell):
        return float(cell)
    hint = ", or say --header if this line names the columns" if line == 1 else ""
    raise CommandError(
        f"{path}, line {line}, column {name!r}: {cell!r} is no number; correct it, leave the "
        f"column out with --drop, or name it with --labels{hint}"
    )


def _class(path, line, name, cell):
    if not cell.strip():
        raise CommandError(f"{path}, line {line}: the column of labels {name!r} is empty")
    return cell.strip()
