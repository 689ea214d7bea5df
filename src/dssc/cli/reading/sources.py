"""The sources that the user names: files, folders, patterns such as `*.csv`, standard input."""

import glob
from collections.abc import Sequence
from pathlib import Path

from dssc.cli.exits import CommandError
from dssc.cli.reading.image_folder import natural_order

# The name of standard input, and of standard output.
STANDARD = Path("-")


def find_sources(given: Sequence[Path]) -> list[Path]:
    """Return the files and folders that names and patterns stand for, in natural order.

    A name that exists is taken as it is, even if it looks like a pattern.
    """
    if STANDARD in given:
        if len(given) > 1:
            raise CommandError("- is standard input, and cannot be joined with other data")
        return [STANDARD]
    sources: list[Path] = []
    for path in given:
        if path.exists() or not glob.has_magic(str(path)):
            check_exists(path)
            sources.append(path)
            continue
        matches = sorted(glob.glob(str(path), recursive=True), key=natural_order)
        if not matches:
            raise CommandError(f"no file or folder matches {path}")
        sources += map(Path, matches)
    return sources


def check_exists(path: Path) -> None:
    """Raise an error if there is no such file or folder, or if it is a device or a pipe."""
    if not path.exists():
        raise CommandError(f"there is no file or folder {path}")
    if not path.is_file() and not path.is_dir():
        raise CommandError(
            f"{path} is a device or a pipe; copy its content to a file, or give - and redirect it "
            "to standard input"
        )
