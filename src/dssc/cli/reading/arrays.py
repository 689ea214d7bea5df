"""Arrays in npy, npz, mat and HDF5 files: a matrix or a stack of images, with or without labels."""

import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from dssc._typing import Array, Matrix
from dssc._validation import check_structure
from dssc.cli.exits import CommandError
from dssc.cli.reading.columns import check_labels, check_name
from dssc.cli.reading.expansion import check_expanded
from dssc.cli.reading.hdf5 import import_h5py
from dssc.cli.reading.reader import ReadOptions
from dssc.cli.reading.samples import Samples
from dssc.cli.reading.separate_process import read_separately

# Kinds of NumPy types that are numbers.
NUMBERS = "biuf"
# Arrays of an npz file that holds a sparse matrix of SciPy.
SPARSE_PARTS = {"format", "shape", "data"}

# Endings of HDF5 files.
HDF5_ENDINGS = (".h5", ".hdf5")

# The arrays of a file by name; the array of an npy file has the empty name.
Arrays = dict[str, Any]


# The options that apply to these files.
options = ("key", "transpose", "id")


def read(path: Path, options: ReadOptions) -> Samples:
    """Read the samples, and their labels if the file has an array of that name."""
    asked = (options.key, options.labels, options.id)
    arrays = _load(path, [name for name in asked if name is not None] if options.key else [])
    names = [name for name in arrays if name]
    if options.labels is not None:
        check_labels(path, options.labels, names)
    if options.id is not None:
        check_name(path, f"--id {options.id}", options.id, names)
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
    return Samples(
        str(path),
        values,
        np.ravel(arrays[options.labels]) if options.labels in names else None,
        names=None if options.id is None else _names(path, options.id, arrays, values.shape[0]),
        name_column=options.id,
    )


def _names(path: Path, name: str, arrays: Arrays, n_samples: int) -> list[str]:
    """Return the names of the samples, from an array with as many values."""
    names = [str(value).strip() for value in np.ravel(arrays[name])]
    if len(names) != n_samples:
        raise CommandError(f"--id {name}: {len(names)} names for the {n_samples} samples of {path}")
    return names


def read_labels(path: Path) -> Array:
    """Read the only vector of a file."""
    arrays = _load(path)
    return np.ravel(arrays[_choose(path, arrays, None, _is_vector, "vector of labels")])


def _load(path: Path, wanted: Sequence[str] = ()) -> Arrays:
    """Return the arrays of a file; of an HDF5 file only those that are `wanted`, if any are."""
    if path.suffix.lower() in HDF5_ENDINGS:
        import_h5py(path)
        return read_separately(path, "HDF5 file", "hdf5", wanted=wanted)
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
        for name, value in read_separately(path, "MATLAB file", "matlab").items()
    }


def _as_csr(matrix: Matrix) -> sparse.csr_array:
    """Return a sparse matrix in CSR form, if all of its entries are inside of it."""
    return sparse.csr_array(check_structure("the array", matrix))


# How files are loaded, by their ending; HDF5 files are loaded by another process.
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
