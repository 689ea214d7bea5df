"""Reading of MATLAB files in a process of its own.

SciPy's reader follows sizes and types of a damaged file wherever they lead, and can crash the
interpreter. Here this ends a second process, and the command reports the file as damaged.
"""

import os
import pickle
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from scipy import io, sparse

from dssc._typing import Matrix
from dssc.cli.exits import CommandError
from dssc.cli.reading.expansion import check_expanded, largest_expansion

# Kinds of NumPy types that are read: numbers and text.
KINDS = "biufU"
# Address space that the second process needs besides that of the arrays.
PROCESS_BYTES = 1 << 30


def read_matlab(path: Path) -> dict[str, Matrix]:
    """Return the matrices of numbers and the texts in a MATLAB file, by name."""
    limit = largest_expansion(path)
    command = [sys.executable, "-P", "-m", __name__, str(path), str(limit)]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    outcome = None
    with (
        subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as process,
        suppress(EOFError, pickle.UnpicklingError),  # the process crashed
    ):
        assert process.stdout is not None
        outcome = pickle.load(process.stdout)
    if outcome is None or process.returncode != 0:
        raise CommandError(f"{path} is not a readable MATLAB file: its structure is damaged")
    if isinstance(outcome, MemoryError):
        check_expanded(path, limit + 1)
    if isinstance(outcome, NotImplementedError):
        raise CommandError(f"{path} is a MATLAB 7.3 file; save it again with save(..., '-v7')")
    if isinstance(outcome, Exception):
        raise CommandError(f"{path} is not a readable MATLAB file: {outcome}") from outcome
    return outcome


def load(path: str, limit: int) -> dict[str, Matrix] | Exception:
    """Return the arrays of a file, or the error that its reader raises."""
    _limit_memory(2 * limit + PROCESS_BYTES)
    try:
        contents = io.loadmat(path, chars_as_strings=True)
        arrays = {name: value for name, value in contents.items() if _is_read(name, value)}
        if sum(_n_bytes(value) for value in arrays.values()) > limit:
            return MemoryError()
        return arrays
    except (MemoryError, NotImplementedError) as error:
        return type(error)(str(error))
    # SciPy raises all kinds of exceptions for damaged files, and not all of them can be pickled.
    except Exception as error:
        return ValueError(f"{type(error).__name__}: {error}")


def _is_read(name: str, value: Any) -> bool:
    if name.startswith("__"):
        return False
    return sparse.issparse(value) or (isinstance(value, np.ndarray) and value.dtype.kind in KINDS)


def _n_bytes(value: Matrix) -> int:
    return value.data.nbytes if sparse.issparse(value) else value.nbytes


def _limit_memory(n_bytes: int) -> None:
    """Limit the memory of this process, where the system can."""
    try:
        import resource
    except ImportError:  # Windows
        return
    most = resource.getrlimit(resource.RLIMIT_AS)[1]
    limit = n_bytes if most == resource.RLIM_INFINITY else min(n_bytes, most)
    resource.setrlimit(resource.RLIMIT_AS, (limit, most))


if __name__ == "__main__":
    pickle.dump(load(sys.argv[1], int(sys.argv[2])), sys.stdout.buffer, protocol=5)
