"""Features that take minutes are computed once per machine."""

import hashlib
import json
import os
import tempfile
import warnings
from pathlib import Path

import numpy as np


def cached(name: str, compute, *, inputs, parameters, cache_home=None) -> np.ndarray:
    """Return the array ``compute()`` gives, kept in a file for the next time.

    Parameters
    ----------
    name : str
        Start of the file's name.
    compute : callable
        Gives the array.
    inputs : ndarray
        What the result is computed from; its content is part of the key.
    parameters : dict
        Everything else that changes the result, of JSON types; change a version number in it when
        the computation changes.
    cache_home : str or path, optional
        Folder of the files: the environment variable DSSC_CACHE, or else ``~/.cache/dssc``.

    Notes
    -----
    A file appears under its name only when it is complete. Processes that compute the same thing at
    the same time write files of their own, and the last one stays.
    """
    folder = Path(cache_home or os.environ.get("DSSC_CACHE") or Path.home() / ".cache" / "dssc")
    path = folder / f"{name}-{_key(inputs, parameters)}.npy"
    if path.exists():
        try:
            return np.load(path, allow_pickle=False)
        except (ValueError, OSError, EOFError) as error:
            warnings.warn(
                f"the cache file {path} is damaged ({error}); computing it again",
                UserWarning,
                stacklevel=2,
            )
    result = compute()
    _store(path, result)
    return result


def _key(inputs, parameters):
    digest = hashlib.sha256()
    digest.update(json.dumps(parameters, sort_keys=True).encode())
    digest.update(f"{inputs.dtype.str} {inputs.shape}".encode())
    digest.update(np.ascontiguousarray(inputs).data)
    return digest.hexdigest()[:32]


def _store(path, array):
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.stem, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            np.save(file, array, allow_pickle=False)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
