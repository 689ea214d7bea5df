"""Results of parts of a search as files, so that a fit can go on where another one ended.

A folder belongs to one set of vectors: the file ``vectors`` holds their key. Every search has a
folder inside it, named by its weights and the length of its lists, with one file per part: a line
of JSON with the name, the key and the checksum, then the result. A file appears under its name only
when it is complete.
"""

import hashlib
import json
import os
from collections import deque
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from dssc._typing import Array
from dssc.features.by_rows import map_rows
from dssc.stochastic.scan_parts import NextPart, Part, PartResult, Runner

# Bytes of a number that stands for a row.
NUMBER = 8


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

    def __call__(self, next_part: NextPart) -> Iterator[tuple[Part, PartResult]]:
        """Yield parts with their results, those that are stored without computing them."""
        stored: deque[Part] = deque()

        def next_missing() -> Part | None:
            while part := next_part():
                if not self._path(part).exists():
                    return part
                stored.append(part)
            return None

        n_found = -1
        while n_found:
            n_found = 0
            for part, result in self.run(next_missing):
                self._write(part, result)
                n_found += 1
                yield part, result
                yield from self._read_all(stored)
            n_found += len(stored)
            yield from self._read_all(stored)

    def _read_all(self, stored: deque[Part]) -> Iterator[tuple[Part, PartResult]]:
        while stored:
            part = stored.popleft()
            self.n_read += 1
            yield part, self._read(part)

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


def data_key(X: Any) -> str:
    """Return a key of the content of an array, a memory map or rows on a cluster."""
    parts = map_rows(X, row_keys, "key")
    return key_of(parts, parameters=(X.shape, X.dtype.str))


def row_keys(rows: Array) -> Array:
    """Return a number for every row that changes with each of its bits."""
    rows = np.ascontiguousarray(rows)
    keys = [hashlib.blake2b(row, digest_size=NUMBER).digest() for row in rows]
    return np.frombuffer(b"".join(keys), np.float64)


def key_of(*arrays: Array, parameters: tuple[object, ...] = ()) -> str:
    """Return a key of the content of arrays and of parameters."""
    digest = hashlib.blake2b(repr(parameters).encode(), digest_size=16)
    for array in arrays:
        digest.update(repr((array.shape, array.dtype.str)).encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file that is complete as soon as it has its name, even if the machine fails."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    with temporary.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
