"""A cache on disk, for features that take minutes to compute."""

import hashlib
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from dssc._homes import home_folder
from dssc._typing import Array
from dssc._warnings import warn_user


def cached(
    name: str,
    compute: Callable[[], Array],
    *,
    inputs: Array,
    parameters: dict[str, Any],
    cache_home: str | Path | None = None,
) -> Array:
    """Return the array that ``compute()`` returns, and keep it in a file for later calls.

    Parameters
    ----------
    name : str
        Start of the file's name.
    compute : callable
        Returns the array.
    inputs : ndarray
        The array the result is computed from; its content is part of the key.
    parameters : dict
        Everything else that changes the result, in JSON types. Change a version number in it when
        the computation changes.
    cache_home : str or path, optional
        Folder of the files: by default the environment variable DSSC_CACHE, else
        ``~/.cache/dssc``. If it cannot be written, there is a warning, and nothing is kept.

    Notes
    -----
    A file gets its name only when it is complete. If several processes compute the same result at
    the same time, each writes its own file and the last one stays.
    """
    folder = Path(cache_home or os.environ.get("DSSC_CACHE") or home_folder() / ".cache" / "dssc")
    path = folder / f"{name}-{_key(inputs, parameters)}.npy"
    if path.exists():
        try:
            return np.load(path, allow_pickle=False)
        except (ValueError, OSError, EOFError) as error:
            warn_user(
                f"the cache file {path} is damaged ({error}); computing it again", UserWarning
            )
    result = compute()
    try:
        _store(path, result)
    except OSError as error:
        warn_user(
            f"{path} cannot be written ({error.strerror}), and will be computed again next time; "
            "set DSSC_CACHE to a writable folder",
            UserWarning,
        )
    return result


def _key(inputs: Array, parameters: dict[str, Any]) -> str:
    digest = hashlib.sha256()
    digest.update(json.dumps(parameters, sort_keys=True).encode())
    digest.update(f"{inputs.dtype.str} {inputs.shape}".encode())
    digest.update(np.ascontiguousarray(inputs).data)
    return digest.hexdigest()[:32]


def _store(path: Path, array: Array) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.stem, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            np.save(file, array, allow_pickle=False)
        try:
            os.replace(temporary, path)
        except PermissionError:
            # Windows does not replace a file that is open: another process reads the same result.
            if not path.exists():
                raise
    finally:
        Path(temporary).unlink(missing_ok=True)
