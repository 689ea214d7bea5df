"""Reading of files in a process of its own.

Some readers follow sizes and types of a damaged file wherever they lead, and can crash the
interpreter or fill the memory. Here this ends a second process, and the command reports the file as
damaged or too large.
"""

import json
import os
import pickle
import subprocess
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from dssc.cli.exits import CommandError
from dssc.cli.reading.expansion import check_expanded, largest_expansion

# Address space that the second process needs besides that of the content.
PROCESS_BYTES = 1 << 30
# Settings of the second process: one thread, and no memory reserved in advance.
ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}


def read_separately(path: Path, kind: str, loader: str, **arguments: Any) -> Any:
    """Return what a loader reads from a file, in another process.

    Parameters
    ----------
    path : Path
        The file.
    kind : str
        The kind of file, for messages.
    loader : str
        A module of this package with a function ``load(path, limit, **arguments)``. It returns an
        object that can be pickled, and raises MemoryError if that needs more than `limit` bytes.
    **arguments : object
        Further arguments of the loader, in JSON types.
    """
    limit = largest_expansion(path)
    call = json.dumps({"path": str(path), "limit": limit, **arguments})
    command = [sys.executable, "-P", "-m", __name__, loader, call]
    outcome = None
    with (
        subprocess.Popen(
            command,
            env=os.environ | ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as process,
        suppress(EOFError, pickle.UnpicklingError),  # the process crashed
    ):
        assert process.stdout is not None
        outcome = pickle.load(process.stdout)
    if outcome is None or process.returncode != 0:
        raise CommandError(f"{path} is not a readable {kind}: its structure is damaged")
    if isinstance(outcome, MemoryError):
        check_expanded(path, limit + 1)
    if isinstance(outcome, CommandError):
        raise outcome
    if isinstance(outcome, Exception):
        raise CommandError(f"{path} is not a readable {kind}: {outcome}") from outcome
    return outcome


def load(loader: str, arguments: dict[str, Any]) -> Any:
    """Return what the loader reads, or the error that it raises."""
    _limit_memory(2 * arguments["limit"] + PROCESS_BYTES)
    try:
        module = import_module(f"dssc.cli.reading.{loader}")
        return module.load(Path(arguments.pop("path")), **arguments)
    except (MemoryError, CommandError) as error:
        return type(error)(str(error))
    # Readers raise all kinds of exceptions for damaged files, and not all of them can be pickled.
    except Exception as error:
        return ValueError(f"{type(error).__name__}: {error}")


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
    pickle.dump(load(sys.argv[1], json.loads(sys.argv[2])), sys.stdout.buffer, protocol=5)
