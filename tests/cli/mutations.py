"""Damaged files: valid ones of every supported format, changed at random from a seed."""

import gzip
import io
import struct
import tempfile
import zipfile
from pathlib import Path

import numpy as np
from scipy import io as matlab
from scipy import sparse

# Numbers that sizes and offsets in a header do not have.
EXTREME = (0, 1, 2**7, 2**15, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**63 - 1, 2**64 - 1)


def originals():
    """Return valid files with twelve samples, as pairs of an ending and a content."""
    X = np.random.default_rng(0).integers(1, 9, (12, 4)).astype(np.float64)
    y = np.repeat([0, 1], 6)
    lines = [",".join(map(str, row)) for row in X.tolist()]
    mixed = {"X": X, "text": "ab", "cells": [{"a": 1}]}
    files = [
        (".npy", written(np.save, X)),
        (".npy", written(np.save, X.astype(np.int16).T.copy().T)),
        (".npz", written(np.savez, X=X, y=y)),
        (".npz", written(np.savez_compressed, X=X, y=y)),
        *((".npz", written(sparse.save_npz, sparse.csr_array(X).asformat(kind)))
          for kind in ("csr", "csc", "coo", "bsr", "dia")),
        (".mat", written(matlab.savemat, {"X": X, "y": y})),
        (".mat", written(matlab.savemat, mixed, do_compression=True)),
        (".mat", written(matlab.savemat, {"X": sparse.csc_array(X)})),
        (".mat", written(matlab.savemat, {"X": X, "y": y}, format="4")),
        (".csv", "\n".join(["a,b,c,d", *lines]).encode()),
        (".csv", "\r\n".join(f'"{line}"'.replace(",", '";"') for line in lines).encode()),
        (".tsv", "\n".join(lines).replace(",", "\t").encode()),
        (".txt", "\n".join(lines).replace(",", " ").encode()),
        (".csv", "\n".join(lines).replace(",", ";").replace(".", ",").encode("utf-16")),
        (".csv.gz", gzip.compress("\n".join(lines).encode())),
        (".jsonl", "\n".join(f"[{line}]" for line in lines).encode()),
        (".jsonl", "\n".join(f'{{"a": 1, "v": [{line}]}}' for line in lines).encode()),
    ]  # fmt: skip
    return files + arrow_files(X) + workbooks(X) + hdf5_files(X) + image_files(X)


def written(write, *arguments, **options):
    """Return what a function writes to a file."""
    buffer = io.BytesIO()
    write(buffer, *arguments, **options)
    return buffer.getvalue()


def arrow_files(X):
    """Return parquet and feather files, if pyarrow is installed."""
    try:
        import pyarrow as arrow
        from pyarrow import feather, parquet
    except ImportError:
        return []
    table = arrow.table({"a": X[:, 0], "b": X[:, 1].astype(int), "c": X[:, 2] > 4})
    lists = arrow.table({"a": X[:, 0], "v": list(X)})
    return [
        *((".parquet", written(lambda file: parquet.write_table(table, file, compression=kind)))  # noqa: B023
          for kind in ("none", "snappy", "zstd")),
        *((".feather", written(lambda file: feather.write_feather(table, file, compression=kind)))  # noqa: B023
          for kind in ("uncompressed", "lz4", "zstd")),
        (".parquet", written(lambda file: parquet.write_table(lists, file))),
        (".feather", written(lambda file: feather.write_feather(lists, file))),
    ]  # fmt: skip


def workbooks(X):
    """Return workbooks, if openpyxl is installed: compressed, and with their XML in the open."""
    try:
        import openpyxl
    except ImportError:
        return []
    book = openpyxl.Workbook()
    for row in [["a", "b", "c", "d"], *X.tolist()]:
        book.active.append(row)
    compressed = written(book.save)
    with zipfile.ZipFile(io.BytesIO(compressed)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    stored = io.BytesIO()
    with zipfile.ZipFile(stored, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return [(".xlsx", compressed), (".xlsx", stored.getvalue())]


def hdf5_files(X):
    """Return HDF5 files, if h5py is installed, and those of anndata, if that is installed."""
    try:
        import h5py
    except ImportError:
        return []

    def write(file, **options):
        with h5py.File(file, "w") as group:
            group.create_dataset("X", data=X, **options)
            group["kind"] = np.array(["u", "v"] * 6, dtype=h5py.string_dtype())

    matrices = {"X": X, "S": sparse.csc_array(X)}
    return [
        (".h5", written(write)),
        (".h5", written(write, chunks=(3, 2), compression="gzip")),
        *((".mat", written(write_matlab_73, {name: X})) for name, X in matrices.items()),
        *annotated_files(X),
    ]


def write_matlab_73(file, matrices):
    """Write matrices as MATLAB does in its version 7.3: transposed, after a block of text."""
    import h5py

    with h5py.File(file, "w", userblock_size=512) as group:
        for name, matrix in matrices.items():
            if sparse.issparse(matrix):
                item = group.create_group(name)
                item.attrs["MATLAB_sparse"] = np.uint64(matrix.shape[0])
                item["data"], item["ir"] = matrix.data, matrix.indices.astype(np.uint64)
                item["jc"] = matrix.indptr.astype(np.uint64)
            else:
                item = group.create_dataset(name, data=matrix.T)
            item.attrs["MATLAB_class"] = np.bytes_("double")
    header = b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\x00\x02IM"
    if isinstance(file, io.BytesIO):
        file.seek(0)
        file.write(header)
    else:
        with open(file, "r+b") as content:
            content.write(header)


def annotated_files(X):
    """Return files of anndata, dense and sparse, if it is installed."""
    try:
        import anndata
    except ImportError:
        return []

    def content(matrix):
        data = anndata.AnnData(matrix)
        data.obs["kind"] = ["u", "v"] * 6
        with tempfile.TemporaryDirectory() as folder:
            data.write_h5ad(f"{folder}/a.h5ad")
            return Path(f"{folder}/a.h5ad").read_bytes()

    return [(".h5ad", content(X)), (".h5ad", content(sparse.csr_matrix(X)))]


def image_files(X):
    """Return images, if Pillow is installed."""
    try:
        from PIL import Image
    except ImportError:
        return []
    image = Image.fromarray((25 * X).astype(np.uint8))
    return [
        (f".{kind}", written(lambda file: image.save(file, kind)))  # noqa: B023
        for kind in ("png", "gif", "bmp", "tiff", "ppm")
    ]


def mutated(content, rng):
    """Return a content with one to three random changes."""
    content = bytearray(content)
    for _ in range(rng.integers(1, 4)):
        MUTATIONS[rng.integers(len(MUTATIONS))](content, rng)
    return bytes(content)


def some_slice(content, rng):
    start = int(rng.integers(len(content) + 1))
    return slice(start, start + int(rng.integers(1, 40)))


def change_bytes(content, rng):
    for _ in range(rng.integers(1, 9)):
        if content:
            content[rng.integers(len(content))] = rng.integers(256)


def cut(content, rng):
    del content[rng.integers(len(content) + 1) :]


def remove(content, rng):
    del content[some_slice(content, rng)]


def insert(content, rng):
    start = some_slice(content, rng).start
    content[start:start] = rng.bytes(int(rng.integers(1, 40)))


def repeat(content, rng):
    place = some_slice(content, rng)
    content[place.start : place.start] = content[place]


def clear(content, rng):
    place = some_slice(content, rng)
    content[place] = bytes(len(content[place]))


def set_number(content, rng):
    number = EXTREME[rng.integers(len(EXTREME))]
    packed = struct.pack("<Q" if rng.integers(2) else ">Q", number)
    start = some_slice(content, rng).start
    size = 4 if rng.integers(2) else 8
    content[start : start + size] = packed[-size:] if rng.integers(2) else packed[:size]


MUTATIONS = (change_bytes, cut, remove, insert, repeat, clear, set_number)
