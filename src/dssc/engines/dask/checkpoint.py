"""Results of parts of a search as files, so that a fit can go on where another one ended.

A folder belongs to one set of vectors: the file ``vectors`` holds their key. Every search has a
folder inside it, named by its weights and the length of its lists, with one file per part: a line
of JSON with the name, the key and the checksum, then the result. A file appears under its name only
when it is complete.
"""

import hashlib
import json
import os
from collections.abc import Iterator
from os import PathLike
from pathlib import Path

from dssc._typing import Array
from dssc.stochastic.scan_parts import Part, PartResult, PointBounds, Runner

# Rows that are hashed together.
ROWS = 1 << 14


class Checkpoint:
    """Runs parts of a search whose results are not yet in a folder, and stores them there.

    Implements `dssc.stochastic.scan_parts.Runner`.

    Parameters
    ----------
    folder : path
        Where to store results; made if it does not exist.
    search_key : str
        Key of the search; see `key_of`.
    run : Runner
        Finds the candidates of parts that are not stored.
    """

    def __init__(self, folder: str | PathLike[str], search_key: str, run: Runner):
        self.folder = Path(folder) / search_key
        self.key, self.run = search_key, run
        self.n_read = 0
        self.folder.mkdir(parents=True, exist_ok=True)

    def __call__(
        self, parts: list[Part], points: PointBounds, signed: bool
    ) -> Iterator[tuple[Part, PartResult]]:
        """Yield every part with its result, stored ones first."""
        missing = []
        for part in parts:
            if self._path(part).exists():
                self.n_read += 1
                yield part, self._read(part)
            else:
                missing.append(part)
        for part, result in self.run(missing, points, signed):
            self._write(part, result)
            yield part, result

    def _path(self, part: Part) -> Path:
        return self.folder / f"{part.name}.part"

    def _read(self, part: Part) -> PartResult:
        path = self._path(part)
        line, _, content = path.read_bytes().partition(b"\n")
        try:
            about = json.loads(line)
            result = PartResult(content, about["checksum"])
            is_intact = result.is_intact
        except (ValueError, KeyError, TypeError):
            is_intact = False
        if not is_intact:
            raise ValueError(
                f"the checkpoint file {str(path)!r} is damaged: its checksum does not match; "
                "delete it and fit again"
            )
        if (about.get("search"), about.get("part")) != (self.key, part.name):
            raise ValueError(
                f"the checkpoint file {str(path)!r} belongs to another search or part; delete it "
                "and fit again"
            )
        return result

    def _write(self, part: Part, result: PartResult) -> None:
        about = {"search": self.key, "part": part.name, "checksum": result.checksum}
        write_atomically(self._path(part), json.dumps(about).encode() + b"\n" + result.content)


def claim_folder(folder: str | PathLike[str], data_key: str) -> None:
    """Raise an error if a folder holds results for other data; otherwise mark it as for these."""
    folder = Path(folder)
    mark = folder / "data"
    if mark.exists():
        if mark.read_text(encoding="utf-8") != data_key:
            raise ValueError(
                f"the checkpoint folder {str(folder)!r} belongs to other data; give another "
                "folder, or delete this one"
            )
        return
    if folder.exists() and any(folder.iterdir()):
        raise ValueError(
            f"the checkpoint folder {str(folder)!r} holds other files; give an empty or new folder"
        )
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(mark, data_key.encode())


def key_of(*arrays: Array, parameters: tuple[object, ...] = ()) -> str:
    """Return a key of the content of arrays, which may be memory maps, and of parameters."""
    digest = hashlib.blake2b(repr(parameters).encode(), digest_size=16)
    for array in arrays:
        digest.update(repr((array.shape, array.dtype.str)).encode())
        for start in range(0, len(array), ROWS):
            digest.update(array[start : start + ROWS].tobytes())
    return digest.hexdigest()


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file that is complete as soon as it has its name, even if the machine fails."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    with temporary.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
