"""Damaged files: valid ones of every supported format, changed at random from a seed."""

import io
import struct

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
    ]  # fmt: skip
    return files + parquet_files(X) + image_files(X)


def written(write, *arguments, **options):
    """Return what a function writes to a file."""
    buffer = io.BytesIO()
    write(buffer, *arguments, **options)
    return buffer.getvalue()


def parquet_files(X):
    """Return parquet files, if pyarrow is installed."""
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError:
        return []
    table = arrow.table({"a": X[:, 0], "b": X[:, 1].astype(int), "c": X[:, 2] > 4})
    return [
        (".parquet", written(lambda file: parquet.write_table(table, file, compression=kind)))  # noqa: B023
        for kind in ("none", "snappy", "zstd")
    ]


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
