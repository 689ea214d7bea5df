"""Reading of files in a process of its own.

Some readers follow sizes and links of a damaged file wherever they lead. They can crash the
interpreter, fill the memory, or never end. Here this ends a second process, and the command reports
the file as damaged or too large.
"""

import json
import os
import pickle
import subprocess
import sys
import threading
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from dssc.cli.exits import CommandError
from dssc.cli.reading.expansion import check_expanded, largest_expansion

# Address space that the second process needs besides that of the content.
PROCESS_BYTES = 1 << 30
# Processor time that the second process may take to start, and bytes that it reads per second at
# least. A damaged file can make it run in circles.
START_SECONDS, BYTES_PER_SECOND = 20, 1 << 26
# Time until the second process is ended, as a multiple of that processor time. Windows has no
# limit of processor time, and a busy machine may need longer.
PATIENCE = 10
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
    seconds = START_SECONDS + limit // BYTES_PER_SECOND
    command = [sys.executable, "-P", "-m", __name__, loader, call, str(seconds)]
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
        end = threading.Timer(PATIENCE * seconds, process.kill)
        end.start()
        try:
            outcome = pickle.load(process.stdout)
        finally:
            end.cancel()
    if outcome is None or process.returncode != 0:
        raise CommandError(f"{path} is not a readable {kind}: its structure is damaged")
    if isinstance(outcome, MemoryError):
        check_expanded(path, limit + 1)
    if isinstance(outcome, CommandError):
        raise outcome
    if isinstance(outcome, Exception):
        raise CommandError(f"{path} is not a readable {kind}: {outcome}") from outcome
    return outcome


def load(loader: str, arguments: dict[str, Any], seconds: int) -> Any:
    """Return what the loader reads, or the error that it raises."""
    _limit("RLIMIT_AS", 2 * arguments["limit"] + PROCESS_BYTES)
    _limit("RLIMIT_CPU", seconds)
    try:
        module = import_module(f"dssc.cli.reading.{loader}")
        return module.load(Path(arguments.pop("path")), **arguments)
    except (MemoryError, CommandError) as error:
        return type(error)(str(error))
    # Readers raise all kinds of exceptions for damaged files, and not all of them can be pickled.
    except Exception as error:
        return ValueError(f"{type(error).__name__}: {error}")


def _limit(name: str, amount: int) -> None:
    """Limit what this process may use of a resource, where the system can."""
    try:
        import resource
    except ImportError:  # Windows
        return
    kind = getattr(resource, name)
    most = resource.getrlimit(kind)[1]
    limit = amount if most == resource.RLIM_INFINITY else min(amount, most)
    with suppress(OSError, ValueError):  # macOS refuses a limit below what the process has
        resource.setrlimit(kind, (limit, most))


if __name__ == "__main__":
    outcome = load(sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3]))
    pickle.dump(outcome, sys.stdout.buffer, protocol=5)
