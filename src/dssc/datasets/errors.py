"""Errors about files that cannot be used."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class DamagedFileError(ValueError):
    """The content of a file is not what its name says."""


def damaged(name: str | Path, problem: str) -> DamagedFileError:
    """Return the error for the file `name`, which says what is wrong and what to do."""
    return DamagedFileError(f"{name} {problem}; replace it by an intact copy")


@contextmanager
def reading(name: str | Path) -> Iterator[None]:
    """Turn any error that a damaged file causes in its reader into one that names the file."""
    try:
        yield
    except DamagedFileError:
        raise
    # The readers of zip, gzip, png and mat files raise a dozen types of exception for damaged
    # files, from struct.error to TokenError; no list of them would stay complete.
    except Exception as error:
        # If the system refused a file, for example by its permissions, its own message is best.
        if isinstance(error, OSError) and error.filename is not None:
            raise
        raise damaged(name, f"cannot be read ({type(error).__name__}: {error})") from error
