"""Data from standard input, kept in a temporary file: most formats cannot be read from a pipe."""

import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from dssc._memory import available_bytes
from dssc.cli.exits import CommandError
from dssc.cli.reading.samples import Samples

# What messages call the data.
NAME = "standard input"
# Bytes that are copied at a time.
CHUNK = 1 << 20
# Endings of the formats that begin with certain bytes. Anything else is a table in text.
ENDINGS = {
    b"\x93NUMPY": ".npy",
    b"PAR1": ".parquet",
    b"ARROW1": ".feather",
    b"\x89HDF\r\n\x1a\n": ".h5",
    b"MATLAB ": ".mat",
    b"\x1f\x8b": ".csv.gz",
    b"{": ".jsonl",
    b"[": ".jsonl",
}


def read_standard_input(read: Callable[[Path], Samples]) -> Samples:
    """Return what `read` makes of a file with the content of standard input."""
    with tempfile.TemporaryDirectory(prefix="dssc-", ignore_cleanup_errors=True) as folder:
        path = _copy(Path(folder))
        try:
            samples = read(path)
        except CommandError as error:
            raise type(error)(str(error).replace(str(path), NAME)) from error
        if isinstance(samples.values, np.memmap):
            samples.values = np.array(samples.values)  # the file will be gone
    samples.source = NAME
    samples.warnings = [warning.replace(str(path), NAME) for warning in samples.warnings]
    return samples


def _copy(folder: Path) -> Path:
    """Copy standard input to a file whose ending fits the content."""
    if sys.stdin.isatty():
        raise CommandError("- reads standard input, which is a terminal; redirect a file to it")
    path = folder / "data"
    left = available_bytes()
    with path.open("wb") as file:
        while chunk := sys.stdin.buffer.read(CHUNK):
            file.write(chunk)
            if left is not None:
                left -= len(chunk)
                if left < 0:
                    raise CommandError(f"{NAME} is larger than the free memory")
    if path.stat().st_size == 0:
        raise CommandError(f"{NAME} is empty")
    return path.rename(path.with_suffix(_ending(path)))


def _ending(path: Path) -> str:
    with path.open("rb") as file:
        start = file.read(16)
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            is_workbook = any(name.startswith("xl/") for name in archive.namelist())
        return ".xlsx" if is_workbook else ".npz"
    return next((ending for magic, ending in ENDINGS.items() if start.startswith(magic)), ".csv")
