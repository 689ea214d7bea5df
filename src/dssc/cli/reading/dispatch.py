"""Which reader a file or folder gets."""

from pathlib import Path

from dssc.cli.exits import CommandError
from dssc.cli.reading.arrays import read_array_file
from dssc.cli.reading.pictures import read_pictures
from dssc.cli.reading.samples import Samples
from dssc.cli.reading.tables import read_csv, read_parquet

TEXT = (".csv", ".tsv", ".txt")
ARRAYS = (".npy", ".npz", ".mat")
ENDINGS = (*ARRAYS, ".csv", ".tsv", ".txt", ".parquet")


def check_exists(path: Path) -> None:
    """Refuse a source that is not there."""
    if not path.exists():
        raise CommandError(f"there is no file or folder {path}")


def read_samples(
    path: Path, *, key=None, labels=None, drop=(), header=None, size=None, transpose=False
) -> Samples:
    """Read samples from a file or a folder of images.

    Parameters
    ----------
    path : Path
        The file or folder.
    key : str, optional
        Name of the array in an npz or mat file that holds more than one.
    labels : str, optional
        What the user calls the labels: taken from the source where it has something of this name.
    drop : sequence of str
        Columns of a table to leave out.
    header : bool, optional
        Whether the first line of a text file names the columns; it is looked at when not given.
    size : tuple of two ints, optional
        Height and width that images of a folder are changed to.
    transpose : bool
        Whether columns are the samples.
    """
    ending = path.suffix.lower()
    if not path.is_dir() and ending not in ENDINGS:
        raise CommandError(
            f"{path} ends in {ending or 'nothing'!r}; dssc reads {', '.join(ENDINGS)} "
            "and folders of images"
        )
    if transpose and ending not in ARRAYS:
        raise CommandError("--transpose is for .npy, .npz and .mat; rows of a table are samples")
    if drop and ending not in (*TEXT, ".parquet"):
        raise CommandError("--drop names columns of a table; this source has none")
    try:
        if path.is_dir():
            return read_pictures(path, labels, size)
        if ending in ARRAYS:
            return read_array_file(path, key, labels, transpose)
        if ending == ".parquet":
            return read_parquet(path, labels, drop)
        return read_csv(path, labels, drop, header)
    except OSError as error:
        raise CommandError(f"cannot read {path}: {error.strerror or error}") from error
