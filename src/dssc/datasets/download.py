"""Downloads that are complete or leave nothing behind."""

import hashlib
import http.client
import os
import secrets
import sys
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import IO

# Bytes read at a time.
CHUNK_BYTES = 2**16
# Longest wait for an answer of the server.
TIMEOUT_SECONDS = 60
# Characters of a full progress bar.
BAR_WIDTH = 30


@dataclass(frozen=True)
class Resource:
    """A file to download.

    Parameters
    ----------
    filename : str
        Name of the file on disk.
    url : str
        Address of the file.
    checksum : str, optional
        Published checksum, such as ``"sha256:8d42..."``.
    """

    filename: str
    url: str
    checksum: str = ""


def download(resource: Resource, folder: Path) -> Path:
    """Download a file into `folder`, and return its path.

    The file gets its name only when it is complete and its checksum is right. Until then it has a
    temporary name, and a failure removes it.

    Raises
    ------
    OSError
        If the download fails, or the file is not the one that was published.
    """
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / resource.filename
    partial = folder / f".{resource.filename}.{secrets.token_hex(4)}.part"
    try:
        with partial.open("xb") as file:
            digest = _stream(resource, file)
        if digest != resource.checksum:
            raise OSError(f"its checksum is {digest}, not {resource.checksum} as published")
        os.replace(partial, target)
    except (OSError, http.client.HTTPException) as error:
        if isinstance(error, urllib.error.HTTPError):
            error.close()  # it holds the connection
        raise OSError(
            f"could not download {resource.url} ({error}); try again, "
            f"or put {resource.filename} into {folder} by hand"
        ) from error
    finally:
        partial.unlink(missing_ok=True)
    return target


def _stream(resource: Resource, file: IO[bytes]) -> str:
    """Copy the resource into `file`; return its checksum in the form of the published one."""
    algorithm = resource.checksum.partition(":")[0]
    hasher = hashlib.new(algorithm) if algorithm else None
    with urllib.request.urlopen(resource.url, timeout=TIMEOUT_SECONDS) as response:
        total, received = response.length, 0
        while chunk := response.read(CHUNK_BYTES):
            file.write(chunk)
            received += len(chunk)
            if hasher:
                hasher.update(chunk)
            _show_progress(resource.filename, received, total)
    _show("\n")
    # A connection that closes early ends the body without an error.
    if total is not None and received != total:
        raise OSError(f"the connection closed after {received} of {total} bytes")
    return f"{algorithm}:{hasher.hexdigest()}" if hasher else ""


def _show_progress(name: str, received: int, total: int | None) -> None:
    megabytes = f"{received / 1e6:.1f} MB"
    if total:
        filled = BAR_WIDTH * received // total
        bar = "#" * filled + " " * (BAR_WIDTH - filled)
        _show(f"\r{name} [{bar}] {megabytes} of {total / 1e6:.1f} MB")
    else:
        _show(f"\r{name} {megabytes}")


def _show(text: str) -> None:
    if sys.stderr is not None and sys.stderr.isatty():
        sys.stderr.write(text)
        sys.stderr.flush()
