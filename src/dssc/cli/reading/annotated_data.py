"""Annotated data matrices of anndata: cells with their measurements, embeddings and annotations.

The samples are the rows of X or, with a key, of a layer, an embedding or a graph. Labels and names
are columns of obs; without a column of names, the names of the cells are taken.
"""

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from dssc._typing import Array, Matrix
from dssc._validation import check_structure
from dssc.cli.exits import CommandError
from dssc.cli.reading.columns import check_labels, check_name, missing
from dssc.cli.reading.hdf5 import Budget, import_h5py
from dssc.cli.reading.reader import ReadOptions
from dssc.cli.reading.samples import Samples
from dssc.cli.reading.separate_process import read_separately

# Where a file has matrices with a row per cell.
PLACES = ("layers", "obsm", "obsp")
# Sparse matrices by their encoding.
SPARSE = {"csr_matrix": sparse.csr_array, "csc_matrix": sparse.csc_array}

# The options that apply to these files.
options = ("key", "id")


def read(path: Path, options: ReadOptions) -> Samples:
    """Read the samples, and their labels if the cells have an annotation of that name."""
    import_h5py(path)
    content = read_separately(
        path,
        "h5ad file",
        "annotated_data",
        key=options.key,
        labels=options.labels,
        identity=options.id,
    )
    return Samples(str(path), **content)


def load(
    path: Path, limit: int, key: str | None, labels: str | None, identity: str | None
) -> dict[str, Any]:
    """Return the arguments of `Samples`."""
    with import_h5py(path).File(path) as file:
        matrices, obs = _matrices(file), file["obs"]
        if key is not None and key not in matrices:
            raise CommandError(f"--key {key}: {missing(path, key, list(matrices))}")
        columns = list(obs)
        if identity is not None:
            check_name(path, f"--id {identity}", identity, columns)
        if labels is not None:
            check_labels(path, labels, columns)
        index = str(obs.attrs["_index"])
        budget = Budget(limit)
        return {
            "values": _read(matrices["X" if key is None else key], budget),
            "labels": _read(obs[labels], budget) if labels in columns else None,
            "names": _read(obs[identity or index], budget).astype(str).tolist(),
            "name_column": identity or ("cell" if index in ("_index", "index") else index),
            "columns": None,
        }


def _matrices(file: Any) -> dict[str, Any]:
    """Return the matrices of a file by path, and by their last name where that is unique."""
    matrices = {"X": file["X"]} if "X" in file else {}
    paths = [f"{place}/{name}" for place in PLACES if place in file for name in file[place]]
    for path in paths:
        matrices[path] = file[path]
        name = path.rpartition("/")[2]
        if [other.rpartition("/")[2] for other in paths].count(name) == 1:
            matrices.setdefault(name, file[path])
    return matrices


def _read(item: Any, budget: Budget) -> Matrix:
    """Return a matrix or a column, however it is encoded."""
    encoding = item.attrs.get("encoding-type", "array")
    if encoding in SPARSE:
        parts = [budget.read(item[name]) for name in ("data", "indices", "indptr")]
        matrix = SPARSE[encoding](tuple(parts), shape=tuple(map(int, item.attrs["shape"])))
        return check_structure("the matrix", matrix).tocsr()
    if encoding == "categorical":
        return _categories(budget.read(item["codes"]), budget.read(item["categories"]))
    if encoding.startswith("nullable"):
        values = budget.read(item["values"]).astype(str)
        return np.where(budget.read(item["mask"]), "", values)
    if not hasattr(item, "dtype"):
        raise CommandError(f"{item.name} is encoded as {encoding!r}, which dssc does not read")
    return budget.read(item)


def _categories(codes: Array, categories: Array) -> Array:
    """Return the category of each code; a negative code is a missing value."""
    texts = np.append(categories.astype(str), "")
    return texts[np.where(codes < 0, len(categories), codes)]
