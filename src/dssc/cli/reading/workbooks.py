"""Sheets of Excel workbooks, with a row per sample, with or without a column of labels."""

import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dssc.cli.exits import CommandError
from dssc.cli.reading.expansion import check_expanded
from dssc.cli.reading.reader import ReadOptions
from dssc.cli.reading.row_table import Cell, Rows, read_with_header
from dssc.cli.reading.samples import Samples

# The options that apply to these files.
options = ("key", "drop", "header", "id")


def read(path: Path, options: ReadOptions) -> Samples:
    """Read the samples, and their labels if the sheet has a column of that name."""
    try:
        import openpyxl
    except ImportError as error:
        raise CommandError(f"reading {path} needs openpyxl: pip install 'dssc[tables]'") from error
    try:
        # Not the path: openpyxl 3.1.0 leaves a file open if its rows are not read to the end.
        with path.open("rb") as file:
            with zipfile.ZipFile(file) as archive:
                check_expanded(path, sum(member.file_size for member in archive.infolist()))
            workbook = openpyxl.load_workbook(file, read_only=True, data_only=True)
            try:
                sheet = _sheet(path, workbook, options.key)
                sheet.reset_dimensions()  # what the file says about its size may be wrong
                return read_with_header(path, _rows(sheet.iter_rows()), options, line="row")
            finally:
                workbook.close()
    except (CommandError, MemoryError):
        raise
    # Damaged files raise all kinds of exceptions, from BadZipFile to KeyError.
    except Exception as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise  # the system refused the file, and says why
        raise CommandError(f"{path} is not a readable workbook: {error}") from error


def _sheet(path: Path, workbook: Any, key: str | None) -> Any:
    """Return the sheet asked for, or the only one."""
    sheets = {sheet.title: sheet for sheet in workbook.worksheets}
    listed = ", ".join(map(repr, sheets))
    if key is not None and key not in sheets:
        raise CommandError(f"{path} has no sheet {key!r}; it has {listed or 'none'}")
    if key is None and len(sheets) != 1:
        raise CommandError(f"{path} has {len(sheets)} sheets; name one with --key: {listed}")
    return next(iter(sheets.values())) if key is None else sheets[key]


def _rows(rows: Iterable[Any]) -> Rows:
    """Yield the row number and the cells of each row that is not empty, all of one length."""
    width = None
    for number, row in enumerate(rows, start=1):
        cells = [_as_cell(cell.value) for cell in row]
        while cells and cells[-1] == "":
            cells.pop()
        if cells:
            width = len(cells) if width is None else width
            yield number, [*cells, *[""] * (width - len(cells))]


def _as_cell(value: Any) -> Cell:
    """Return a value as a cell; an empty one is no value."""
    if value is None:
        return ""
    return value if isinstance(value, int | float) else str(value)
