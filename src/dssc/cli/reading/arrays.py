"""Arrays in npy, npz and mat files."""

import zipfile
from pathlib import Path

import numpy as np
from scipy import io, sparse

from dssc.cli.exits import CommandError
from dssc.cli.reading.samples import Samples

NUMBERS = "biuf"
SPARSE_PARTS = {"format", "shape", "data"}


def read_array_file(path: Path, key, labels, transpose: bool) -> Samples:
    """Read a matrix or a stack of images, and the labels beside it where there are any so named."""
    arrays = load_arrays(path)
    values = arrays[choose(path, arrays, key, _is_matrix, "matrix")]
    if values.dtype.kind not in NUMBERS:
        raise CommandError(f"{path} holds {values.dtype}, not numbers")
    if values.ndim not in (2, 3, 4) or (values.ndim == 4 and values.shape[3] != 3):
        raise CommandError(
            f"{path} holds an array of shape {values.shape}; dssc reads matrices (samples x "
            "features) and stacks of images (samples x height x width, with 3 colours last or none)"
        )
    if transpose:
        values = values.T
    values = sparse.csr_array(values) if sparse.issparse(values) else values
    found = arrays.get(labels) if labels in arrays and len(arrays) > 1 else None
    return Samples(str(path), values, None if found is None else np.ravel(found))


def load_arrays(path: Path) -> dict:
    """Return the arrays of a file by name; the one of an npy file has none."""
    try:
        if path.suffix.lower() == ".mat":
            return _load_mat(path)
        if path.suffix.lower() == ".npy":
            return {"": np.load(path, mmap_mode="r", allow_pickle=False)}
        with np.load(path, allow_pickle=False) as archive:
            if set(archive.files) >= SPARSE_PARTS:
                return {"": sparse.load_npz(path)}
            return {name: archive[name] for name in archive.files}
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise CommandError(f"{path} is damaged or holds pickled objects: {error}") from error


def choose(path: Path, arrays: dict, key, fits, what: str) -> str:
    """Return the name of the array meant: the one asked for, or the only one that fits."""
    shapes = ", ".join(f"{name!r} {array.shape}" for name, array in arrays.items())
    if key is not None:
        if key not in arrays:
            raise CommandError(f"{path} holds no array {key!r}; it holds {shapes or 'nothing'}")
        return key
    fitting = [name for name, array in arrays.items() if fits(array)]
    if len(arrays) == 1:
        fitting = list(arrays)
    if len(fitting) != 1:
        raise CommandError(
            f"{path} holds {len(fitting) or 'no'} candidates for a {what}; "
            f"name one with --key: {shapes or 'it holds nothing'}"
        )
    return fitting[0]


def is_vector(array) -> bool:
    """Whether an array is a list of values, as a row, a column or flat."""
    return not sparse.issparse(array) and array.size == max(array.shape, default=0) > 1


def _is_matrix(array) -> bool:
    return array.dtype.kind in NUMBERS and array.ndim >= 2 and not is_vector(array)


def _load_mat(path: Path) -> dict:
    try:
        loaded = io.loadmat(path, chars_as_strings=True)
    except NotImplementedError as error:
        raise CommandError(
            f"{path} is a MATLAB 7.3 file; save it again with save(..., '-v7')"
        ) from error
    except OSError:
        raise
    # A damaged file raises whatever its reader stumbles over.
    except Exception as error:
        raise CommandError(f"{path} is no MATLAB file that can be read: {error}") from error
    return {
        name: sparse.csr_array(value) if sparse.issparse(value) else value
        for name, value in loaded.items()
        if not name.startswith("__") and (sparse.issparse(value) or value.dtype.kind in "biufU")
    }
