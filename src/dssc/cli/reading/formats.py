"""The supported file formats, and the reader of each.

This module is light: readers are imported when they are needed. A new format is a line in one of
the tables below, and its reader: a module that implements `Reader`.
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from dssc.cli.reading.reader import Reader

# Files of matrices: the reader of each ending, a module of this package.
ARRAY_FORMATS = {
    ".npy": "arrays",
    ".npz": "arrays",
    ".mat": "arrays",
    ".h5": "arrays",
    ".hdf5": "arrays",
    ".h5ad": "annotated_data",
}
# Tables with columns.
TABLE_FORMATS = {
    ".csv": "text_tables",
    ".tsv": "text_tables",
    ".txt": "text_tables",
    ".csv.gz": "text_tables",
    ".tsv.gz": "text_tables",
    ".txt.gz": "text_tables",
    ".jsonl": "json_lines",
    ".jsonl.gz": "json_lines",
    ".xlsx": "workbooks",
    ".parquet": "arrow_tables",
    ".feather": "arrow_tables",
}
# All files.
FORMATS = ARRAY_FORMATS | TABLE_FORMATS
# The reader of folders.
IMAGE_FOLDER = "image_folder"


def ending_of(path: Path) -> str:
    """Return the ending of a file in lower case, two parts of it if the last is `.gz`."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return "".join(suffixes[-2:] if suffixes[-1:] == [".gz"] else suffixes[-1:])


def reader_of(path: Path) -> "Reader | None":
    """Return the reader of a file or folder; None if the ending of the file is not supported."""
    name = IMAGE_FOLDER if path.is_dir() else FORMATS.get(ending_of(path))
    return None if name is None else import_reader(name)


def import_reader(name: str) -> "Reader":
    """Return a reader by the name of its module in this package."""
    return cast("Reader", import_module(f"dssc.cli.reading.{name}"))
