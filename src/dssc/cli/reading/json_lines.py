"""Lines of JSON, one sample per line: an object with a value per column, or a list of numbers.

A list of numbers in an object, such as an embedding, is a column per number.
"""

import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, TextIO

from dssc.cli.exits import CommandError
from dssc.cli.reading.columns import Columns, choose_columns
from dssc.cli.reading.reader import ReadOptions
from dssc.cli.reading.row_table import Cell, Rows, read_rows
from dssc.cli.reading.samples import Samples
from dssc.cli.reading.text_files import open_text

# Line numbers and objects.
Objects = Iterator[tuple[int, dict[str, Any]]]

# The options that apply to these files.
options = ("drop", "id", "encoding")


def read(path: Path, options: ReadOptions) -> Samples:
    """Read the samples, and their labels if the objects have a value of that name."""
    with open_text(path, options.encoding) as file:
        objects = _objects(path, file)
        line, first = next(objects, (0, {}))
        if not first:
            raise CommandError(f"{path} is empty")
        columns = choose_columns(path, list(first), options)
        lengths = [_length(first[columns.names[index]]) for index in columns.features]
        rows = _flat_rows(path, chain([(line, first)], objects), columns, lengths)
        return read_rows(path, rows, _flat_columns(columns, lengths))


def _objects(path: Path, file: TextIO) -> Objects:
    """Yield the line number and the object of each line that is not blank."""
    for line, text in enumerate(file, start=1):
        if not text.strip():
            continue
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise CommandError(f"{path}, line {line}: not JSON: {error}") from error
        if isinstance(value, list):
            value = {str(number): cell for number, cell in enumerate(value, start=1)}
        if not isinstance(value, dict):
            raise CommandError(f"{path}, line {line}: neither an object nor a list of numbers")
        yield line, value


def _length(value: Any) -> int | None:
    """Return the number of columns that a list makes; None for a single value."""
    return len(value) if isinstance(value, list) else None


def _flat_columns(columns: Columns, lengths: list[int | None]) -> Columns:
    """Return the columns after lists became a column per number: features, labels, names."""
    names: list[str] = []
    for index, length in zip(columns.features, lengths, strict=True):
        name = columns.names[index]
        names += [name] if length is None else [f"{name}[{place}]" for place in range(length)]
    n_features = len(names)
    others = [index for index in (columns.label, columns.id) if index is not None]
    label = None if columns.label is None else n_features
    identity = None if columns.id is None else n_features + len(others) - 1
    names += [columns.names[index] for index in others]
    return Columns(names, list(range(n_features)), label, identity)


def _flat_rows(path: Path, objects: Objects, columns: Columns, lengths: list[int | None]) -> Rows:
    """Yield the line number and the cells of each object, as `_flat_columns` names them."""
    known = set(columns.names)
    features = [columns.names[index] for index in columns.features]
    others = [columns.names[i] for i in (columns.label, columns.id) if i is not None]
    for line, value in objects:
        unknown = [name for name in value if name not in known]
        if unknown:
            raise CommandError(
                f"{path}, line {line}: {unknown[0]!r} is not in the first line; every line needs "
                "the same names"
            )
        cells: list[Cell] = []
        for name, length in zip(features, lengths, strict=True):
            cell = value.get(name)
            if _length(cell) != length:
                raise CommandError(
                    f"{path}, line {line}: {name!r} has {_described(_length(cell))} where the "
                    f"first line has {_described(length)}"
                )
            cells += map(_as_cell, [cell] if cell is None or length is None else cell)
        yield line, [*cells, *(_as_cell(value.get(name)) for name in others)]


def _described(length: int | None) -> str:
    return "one value" if length is None else f"a list of {length}"


def _as_cell(value: Any) -> Cell:
    """Return a value as a cell; null is no value."""
    if value is None:
        return ""
    return value if isinstance(value, int | float) else str(value)
