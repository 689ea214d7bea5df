"""The images of a distribution, in a folder or in a zip archive that is never unpacked."""

import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from dssc.datasets.errors import damaged, reading


@dataclass(frozen=True)
class Tree:
    """How a distribution names its images.

    Parameters
    ----------
    glob : str
        Pattern of the files below the distribution's folder.
    pattern : str
        Regular expression of such a path; its groups are the class and the position within it.
    max_bytes : int
        Size that no intact file exceeds.
    """

    glob: str
    pattern: str
    max_bytes: int


def read_tree(path: Path, tree: Tree) -> Iterator[tuple[int | str, str, bytes]]:
    """Yield the class, the name and the content of every image, in order of class and position.

    Parameters
    ----------
    path : Path
        A folder, or a zip archive of it.
    tree : Tree
        The names to look for. In an archive they may be in any folder.
    """
    if path.is_dir():
        names = [file.relative_to(path).as_posix() for file in path.glob(tree.glob)]
        for label, name in _in_order(path, names, tree.pattern):
            with (path / name).open("rb") as stream:
                yield label, f"{path / name}", _content(stream, path / name, tree.max_bytes)
    else:
        with open_zip(path) as archive:
            for label, name in _in_order(path, archive.namelist(), f"(?:.*/)?{tree.pattern}"):
                with reading(f"{path}/{name}"), archive.open(name) as stream:
                    content = _content(stream, f"{path}/{name}", tree.max_bytes)
                yield label, f"{path}/{name}", content


@contextmanager
def open_zip(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a zip archive; refuse unsafe names, and name the archive in errors about damage."""
    with path.open("rb") as file, reading(path), zipfile.ZipFile(file) as archive:
        for name in archive.namelist():
            parts = name.replace("\\", "/").split("/")
            if parts[0] == "" or ".." in parts or ":" in parts[0]:
                raise damaged(path, f"holds a file with the unsafe name {name!r}")
        yield archive


def _in_order(path: Path, names: list[str], pattern: str) -> list[tuple[int | str, str]]:
    """Return the class and the name of each image, sorted by class and position."""
    by_position: dict[tuple[int | str, ...], str] = {}
    for name in names:
        if match := re.fullmatch(pattern, name):
            key = tuple(int(group) if group.isdecimal() else group for group in match.groups())
            if key in by_position:
                raise damaged(path, f"holds the same image twice, {by_position[key]} and {name}")
            by_position[key] = name
    return [(key[0], by_position[key]) for key in sorted(by_position)]


def _content(stream: IO[bytes], name: str | Path, max_bytes: int) -> bytes:
    """Read to the end, but no further than `max_bytes`, whatever size the archive declares."""
    content = stream.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise damaged(name, f"is larger than {max_bytes} bytes")
    return content
