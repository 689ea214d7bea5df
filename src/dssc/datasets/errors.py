"""What is said of a file that cannot be used."""

from collections.abc import Iterator
from contextlib import contextmanager


class DamagedFileError(ValueError):
    """A file is not what its name promises."""


def damaged(name, what: str) -> DamagedFileError:
    """Return the error for the file `name`: what is wrong, and what to do about it."""
    return DamagedFileError(f"{name} {what}; put a sound copy in its place")


@contextmanager
def reading(name) -> Iterator[None]:
    """Turn whatever a damaged file provokes in its reader into an error that names the file."""
    try:
        yield
    except DamagedFileError:
        raise
    # The readers of zip, gzip, png and mat files answer damage with a dozen types of exception,
    # from struct.error to TokenError; no list of them would stay complete.
    except Exception as error:
        # Where the system refused a file (its permissions, say), its own message is the right one.
        if isinstance(error, OSError) and error.filename is not None:
            raise
        raise damaged(name, f"cannot be read ({type(error).__name__}: {error})") from error
