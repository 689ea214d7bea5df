"""Tables of numbers in text files, with a row per sample, with or without a column of labels.

Cells are separated by commas, semicolons, tabs or blanks, as the first two lines show.
"""

import csv
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TextIO

import numpy as np

from dssc._typing import Array
from dssc.cli.exits import CommandError
from dssc.cli.reading.numbers import COMMA, POINT, Numbers
from dssc.cli.reading.reader import ReadOptions
from dssc.cli.reading.row_table import read_with_header
from dssc.cli.reading.samples import Samples
from dssc.cli.reading.text_files import open_text

# Characters that separate cells, if the first line has one of them; otherwise blanks do. One that
# the second line has as often is preferred, then the more frequent one, then the first of these.
DELIMITERS = ";\t,"
# Names of separators that are hard to type.
SEPARATORS = {"tab": "\t", r"\t": "\t", "space": " ", "comma": ",", "semicolon": ";"}

# Line numbers and cells.
Rows = Iterator[tuple[int, list[str]]]

# The options that apply to these files.
options = ("drop", "header", "id", "sep", "decimal", "encoding")


def read(path: Path, options: ReadOptions) -> Samples:
    """Read the samples, and their labels if the table has a column of that name."""
    if options.decimal is not None and options.decimal not in (".", ","):
        raise CommandError(f"--decimal {options.decimal} must be a point or a comma")
    with open_text(path, options.encoding) as file:
        lines, start = _lines(file)
        separator = _separator(options.sep, start, options.decimal)
        if options.decimal == separator:
            raise CommandError(f"--sep and --decimal are both {separator!r}; give another --sep")
        # Spreadsheets write semicolons where the comma is the decimal point.
        numbers = Numbers(options.decimal or (None if separator == ";" else "."))
        return read_with_header(path, _rows(path, lines, separator), options, numbers)


def read_labels(path: Path) -> Array:
    """Read the last cell of each line; the first line may be a heading."""
    with open_text(path) as file:
        lines, start = _lines(file)
        cells = [row[-1].strip() for _, row in _rows(path, lines, _separator(None, start))]
    if len(cells) > 1 and all(map(POINT.is_number, cells[1:])) and not POINT.is_number(cells[0]):
        cells = cells[1:]
    return np.array(cells)


def _lines(file: TextIO) -> tuple[Iterator[str], list[str]]:
    """Return the lines of a file, and the first two of them that are not blank."""
    read, start = [], []
    for line in file:
        read.append(line)
        if line.strip():
            start.append(line)
        if len(start) == 2:
            break
    return chain(read, file), start


def _separator(given: str | None, start: list[str], decimal: str | None = None) -> str:
    """Return the character between cells; a space stands for any blanks."""
    if given is not None:
        separator = SEPARATORS.get(given, given)
        if len(separator) != 1:
            raise CommandError(f"--sep {given} must be one character, or tab or space")
        return separator
    if any(";" in line and all(map(COMMA.is_number, line.split(";"))) for line in start):
        return ";"  # the commas are decimal points
    counts = {
        delimiter: [line.count(delimiter) for line in start]
        for delimiter in DELIMITERS
        if delimiter != decimal and start and start[0].count(delimiter)
    }
    # Names of columns, and texts in quotes, may contain the other characters.
    regular = {delimiter: numbers for delimiter, numbers in counts.items() if len({*numbers}) == 1}
    candidates = regular or counts
    return max(candidates, key=lambda delimiter: candidates[delimiter][0]) if candidates else " "


def _rows(path: Path, lines: Iterator[str], separator: str) -> Rows:
    """Yield the line number and the cells of each line that is not blank."""
    if separator == " ":
        for line, text in enumerate(lines, start=1):
            if cells := text.split():
                yield line, cells
        return
    reader = csv.reader(lines, delimiter=separator)
    try:
        for row in reader:
            if any(row):
                yield reader.line_num, row
    except csv.Error as error:
        raise CommandError(f"{path} is not a table in text: {error}") from error
