"""The supported file formats, and the reader of each.

This module is light: readers are imported when they are needed. A new format is a line in one of
the tables below, and its reader.
"""

from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dssc.cli.reading.reader import Reader

# Files of matrices: the reader of each ending, by its module in this package and its name.
ARRAY_FORMATS = {".npy": "arrays.NPY", ".npz": "arrays.NPZ", ".mat": "arrays.MAT"}
# Tables with columns.
TABLE_FORMATS = {
    ".csv": "text_tables.TEXT",
    ".tsv": "text_tables.TEXT",
    ".txt": "text_tables.TEXT",
    ".parquet": "parquet_tables.PARQUET",
}
# All files.
FORMATS = ARRAY_FORMATS | TABLE_FORMATS
# The reader of folders.
IMAGE_FOLDER = "image_folder.IMAGES"


def reader_of(path: Path) -> "Reader | None":
    """Return the reader of a file or folder; None if the ending of the file is not supported."""
    name = IMAGE_FOLDER if path.is_dir() else FORMATS.get(path.suffix.lower())
    return None if name is None else import_reader(name)


def import_reader(name: str) -> "Reader":
    """Return a reader by its module in this package and its name."""
    module, _, attribute = name.partition(".")
    return getattr(import_module(f"dssc.cli.reading.{module}"), attribute)


def listed(endings: Iterable[str]) -> str:
    """Return endings for a text: ".a, .b and .c"."""
    *first, last = endings
    return f"{', '.join(first)} and {last}" if first else last
