"""Output files, which are written completely or not at all."""

import csv
import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from dssc._typing import Matrix
from dssc.cli.exits import CommandError, OutputError


def check_outputs(paths: Sequence[Path], force: bool, inputs: Sequence[Path] = ()) -> None:
    """Refuse outputs that cannot be written, before the computation starts.

    An output is never one of the existing `inputs`, whatever name it is given.
    """
    for path in paths:
        try:
            for source in inputs:
                # Links, relative names and the case of letters make other names of the same file.
                if path.exists() and path.samefile(source):
                    raise OutputError(f"{path} is the input {source}; choose another name")
            _check(path, force)
        except OSError as error:
            raise OutputError(f"cannot write {path}: {error.strerror}") from error


def check_ending(path: Path, endings: Sequence[str]) -> Path:
    """Return a path; refuse it unless it has one of the endings."""
    if path.suffix.lower() not in endings:
        raise CommandError(f"{path} must end in {' or '.join(endings)}")
    return path


def write_all(contents: Mapping[Path, bytes], force: bool) -> None:
    """Write files under temporary names, and rename them when all are complete."""
    temporary: dict[Path, Path] = {}
    try:
        for number, (path, content) in enumerate(contents.items()):
            # A short name: that of the output may be as long as the system allows.
            temporary[path] = path.with_name(f".dssc-{os.getpid()}-{number}.part")
            with temporary[path].open("xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        for path, written in temporary.items():
            _check(path, force)
            written.replace(path)
    except OSError as error:
        # Not the name in the error: it is missing on a full disk, and otherwise the temporary one.
        raise OutputError(f"cannot write {path}: {error.strerror}") from error
    finally:
        for written in temporary.values():
            written.unlink(missing_ok=True)


def table_as_bytes(columns: Mapping[str, Sequence[Any]]) -> bytes:
    """Return columns as the content of a csv file."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue().encode(errors="surrogateescape")  # the bytes of a name that is not text


def matrix_as_bytes(matrix: Matrix, path: Path) -> bytes:
    """Return the content of an npz file with a sparse matrix, or of an npy file, by its ending."""
    buffer = io.BytesIO()
    if path.suffix.lower() == ".npz":
        sparse.save_npz(buffer, sparse.csr_array(matrix))
    else:
        dense = matrix.toarray() if sparse.issparse(matrix) else matrix
        np.save(buffer, dense, allow_pickle=False)
    return buffer.getvalue()


def _check(path: Path, force: bool) -> None:
    if path.is_dir():
        raise OutputError(f"cannot write {path}: it is a folder")
    if path.exists() and not path.is_file():
        raise OutputError(f"cannot write {path}: it is a device or a pipe")
    if path.exists() and not force:
        raise OutputError(f"{path} exists; choose another name, or add --force to replace it")
    if not path.parent.is_dir():
        raise OutputError(f"cannot write {path}: there is no folder {path.parent}")
    if not os.access(path.parent, os.W_OK):
        raise OutputError(f"cannot write {path}: you cannot write to the folder {path.parent}")
