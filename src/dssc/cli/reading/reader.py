"""What the readers of all formats have in common."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Protocol, runtime_checkable

from dssc._typing import Array
from dssc.cli.reading.samples import Samples

# The options that apply to every format.
FOR_ALL = ("labels", "skip_bad")


@dataclass(frozen=True)
class ReadOptions:
    """What the user says about a file or folder.

    Parameters
    ----------
    labels : str, optional
        Name of the labels: a column of a table, an array of a file, or "folders". It may also name
        another file; a source without anything of this name is read without labels.
    id : str, optional
        Column of a table, or array of a file, with the name of each sample.
    key : str, optional
        Name of the array in a file that holds more than one, or of the sheet of a workbook.
    transpose : bool
        Whether columns are the samples.
    drop : sequence of str
        Columns of a table to leave out.
    header : bool, optional
        Whether the first line of a table has the names of the columns; by default it does if it has
        no numbers.
    sep : str, optional
        Character between the cells of a text file, " " for any blanks; by default it is found from
        the first line.
    decimal : {".", ","}, optional
        Decimal point of a text file; by default a comma is understood between semicolons.
    encoding : str, optional
        Encoding of a text file; by default UTF-8, or UTF-16 if the file begins with its mark.
    size : tuple of two ints, optional
        Height and width to which images are resized.
    skip_bad : bool
        Whether to pass over images that cannot be read.
    """

    labels: str | None = None
    id: str | None = None
    key: str | None = None
    transpose: bool = False
    drop: Sequence[str] = ()
    header: bool | None = None
    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    size: tuple[int, int] | None = None
    skip_bad: bool = False

    def given(self) -> list[str]:
        """Return the options that apply to some formats only and differ from their defaults."""
        return [
            field.name
            for field in fields(self)
            if field.name not in FOR_ALL and getattr(self, field.name) != field.default
        ]


class Reader(Protocol):
    """Reads samples from files of a format, or from folders. Modules implement it."""

    # The options that apply to the format.
    options: tuple[str, ...]

    def read(self, path: Path, options: ReadOptions) -> Samples:
        """Read the samples, and their labels if the source has labels of the given name."""


@runtime_checkable
class LabelReader(Reader, Protocol):
    """A reader of a format in which labels can have a file of their own."""

    def read_labels(self, path: Path) -> Array:
        """Read the labels."""
