"""MATLAB files, of version 7.3 as well, which are HDF5 files."""

from pathlib import Path
from typing import Any

import numpy as np
from scipy import io, sparse

from dssc._typing import Matrix
from dssc.cli.reading import hdf5

# Kinds of NumPy types that are read: numbers and text.
KINDS = "biufU"


def load(path: Path, limit: int) -> dict[str, Matrix]:
    """Return the matrices of numbers and the texts of a file by name."""
    try:
        contents = io.loadmat(path, chars_as_strings=True)
    except NotImplementedError:  # of version 7.3
        return _load_hdf5(path, limit)
    arrays = {name: value for name, value in contents.items() if _is_read(name, value)}
    if sum(_n_bytes(value) for value in arrays.values()) > limit:
        raise MemoryError
    return arrays


def _is_read(name: str, value: Any) -> bool:
    if name.startswith("__"):
        return False
    return sparse.issparse(value) or (isinstance(value, np.ndarray) and value.dtype.kind in KINDS)


def _n_bytes(value: Matrix) -> int:
    return value.data.nbytes if sparse.issparse(value) else value.nbytes


def _load_hdf5(path: Path, limit: int) -> dict[str, Matrix]:
    """Return the matrices of a file of version 7.3: columns first, sparse ones as groups."""
    h5py = hdf5.import_h5py(path)
    with h5py.File(path) as file:
        budget = hdf5.Budget(limit)
        arrays: dict[str, Matrix] = {}
        for name, item in file.items():
            if "MATLAB_sparse" in item.attrs:
                arrays[name] = _read_sparse(item, budget)
            elif _is_numeric(item, h5py):
                arrays[name] = budget.read(item).T
    return arrays


def _is_numeric(item: Any, h5py: Any) -> bool:
    """Return whether an item is a matrix of numbers: not a cell array, text or an empty matrix."""
    if not isinstance(item, h5py.Dataset) or "MATLAB_empty" in item.attrs:
        return False
    return hdf5.is_numeric(item) and item.attrs.get("MATLAB_class") != b"char"


def _read_sparse(group: Any, budget: hdf5.Budget) -> sparse.csc_array:
    """Return the columns of a sparse matrix; one without entries has no data and no rows."""
    indptr = budget.read(group["jc"])
    data = budget.read(group["data"]) if "data" in group else np.empty(0)
    indices = budget.read(group["ir"]) if "ir" in group else np.empty(0, dtype=np.int64)
    shape = int(group.attrs["MATLAB_sparse"]), len(indptr) - 1
    return sparse.csc_array((data, indices.astype(np.int64), indptr.astype(np.int64)), shape=shape)
