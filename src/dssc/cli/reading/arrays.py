"""Arrays in npy, npz and mat files: a matrix or a stack of images, with or without labels."""

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from dssc._typing import Array, Matrix
from dssc._validation import check_structure
from dssc.cli.exits import CommandError
from dssc.cli.reading.expansion import check_expanded
from dssc.cli.reading.matlab_process import read_matlab
from dssc.cli.reading.reader import ReadOptions
from dssc.cli.reading.samples import Samples

# Kinds of NumPy types that are numbers.
NUMBERS = "biuf"
# Arrays of an npz file that holds a sparse matrix of SciPy.
SPARSE_PARTS = {"format", "shape", "data"}

# The arrays of a file by name; the array of an npy file has the empty name.
Arrays = dict[str, Any]


# The options that apply to these files.
options = ("key", "transpose")


def read(path: Path, options: ReadOptions) -> Samples:
    """Read the samples, and their labels if the file has an array of that name."""
    arrays = _load(path)
    values = arrays[_choose(path, arrays, options.key, _is_matrix, "matrix")]
    if values.dtype.kind not in NUMBERS:
        raise CommandError(f"{path} holds {values.dtype}, not numbers")
    if values.ndim not in (2, 3, 4) or (values.ndim == 4 and values.shape[3] != 3):
        raise CommandError(
            f"{path} holds an array of shape {values.shape}; dssc reads matrices (samples x "
            "features) and stacks of images (samples x height x width, or samples x height x "
            "width x 3 in colour)"
        )
    if options.transpose:
        values = sparse.csr_array(values.T) if sparse.issparse(values) else values.T
    has_labels = options.labels in arrays and len(arrays) > 1
    return Samples(str(path), values, np.ravel(arrays[str(options.labels)]) if has_labels else None)


def read_labels(path: Path) -> Array:
    """Read the only vector of a file."""
    arrays = _load(path)
    return np.ravel(arrays[_choose(path, arrays, None, _is_vector, "vector of labels")])


def _load(path: Path) -> Arrays:
    try:
        return LOADERS[path.suffix.lower()](path)
    except (CommandError, MemoryError):
        raise
    # The readers raise a dozen types of exception for damaged files, from zlib.error to TokenError.
    except Exception as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise  # the system refused the file, and says why
        raise CommandError(f"{path} is damaged or holds pickled objects: {error}") from error


def _load_npy(path: Path) -> Arrays:
    return {"": np.load(path, mmap_mode="r", allow_pickle=False)}


def _load_npz(path: Path) -> Arrays:
    with zipfile.ZipFile(path) as archive:
        check_expanded(path, sum(member.file_size for member in archive.infolist()))
    with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        if set(arrays.files) >= SPARSE_PARTS:
            file.seek(0)
            return {"": _as_csr(sparse.load_npz(file))}
        loaded = {name: arrays[name] for name in arrays.files}
    # Files in the archive that are not arrays are loaded as bytes.
    return {name: array for name, array in loaded.items() if isinstance(array, np.ndarray)}


def _load_mat(path: Path) -> Arrays:
    return {
        name: _as_csr(value) if sparse.issparse(value) else value
        for name, value in read_matlab(path).items()
    }


def _as_csr(matrix: Matrix) -> sparse.csr_array:
    """Return a sparse matrix in CSR form, if all of its entries are inside of it."""
    return sparse.csr_array(check_structure("the array", matrix))


# How files are loaded, by their ending.
LOADERS = {".npy": _load_npy, ".npz": _load_npz, ".mat": _load_mat}


def _choose(
    path: Path, arrays: Arrays, key: str | None, fits: Callable[[Matrix], bool], kind: str
) -> str:
    """Return the name of an array: the one asked for, or the only one that fits."""
    shapes = ", ".join(f"{name!r} {array.shape}" for name, array in arrays.items())
    if key is not None:
        if key not in arrays:
            raise CommandError(f"{path} holds no array {key!r}; it holds {shapes or 'nothing'}")
        return key
    is_only = len(arrays) == 1
    candidates = [name for name, array in arrays.items() if is_only or fits(array)]
    if len(candidates) != 1:
        raise CommandError(
            f"{path} holds {len(candidates) or 'no'} candidates for a {kind}; "
            f"name one with --key: {shapes or 'it holds nothing'}"
        )
    return candidates[0]


def _is_vector(array: Matrix) -> bool:
    """Return whether an array is a list of values: flat, a row or a column."""
    return not sparse.issparse(array) and array.size == max(array.shape, default=0) > 1


def _is_matrix(array: Matrix) -> bool:
    return array.dtype.kind in NUMBERS and array.ndim >= 2 and not _is_vector(array)
