"""A Dask array as the source of samples: checked, and copied to the disk of this machine."""

import tempfile
from typing import Any

import dask
import numpy as np
from dask.array.utils import meta_from_array

from dssc._typing import Array

# Bytes of chunks that are fetched together for the copy.
FETCHED_BYTES = 1 << 26


def check_source(X: Any) -> Any:
    """Return a Dask array of floats with one chunk per row; raise an error for other contents."""
    if X.ndim != 2:
        raise ValueError(
            f"X is a Dask array with {X.ndim} axis/axes; expected 2: one row per sample"
        )
    if any(np.isnan(size) for size in X.shape):
        raise ValueError(
            "X is a Dask array with chunks of unknown size; call X.compute_chunk_sizes() first"
        )
    chunk = meta_from_array(X)
    if not isinstance(chunk, np.ndarray):
        raise ValueError(
            f"the chunks of X are of type {type(chunk).__name__}; make them arrays, for example "
            "by X.map_blocks(lambda chunk: chunk.toarray())"
        )
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    return X.rechunk({1: -1})


def copy_to_disk(X: Any) -> Array:
    """Return a checked Dask array as a memory map of an unnamed file, copied chunk by chunk."""
    with tempfile.TemporaryFile(prefix="dssc-") as file:
        copy = np.memmap(file, dtype=X.dtype, mode="w+", shape=X.shape)
    sizes = X.chunks[0]
    ends = np.cumsum(sizes)
    together = max(1, FETCHED_BYTES // max(1, max(sizes) * X.shape[1] * X.dtype.itemsize))
    for first in range(0, len(sizes), together):
        numbers = range(first, min(first + together, len(sizes)))
        chunks = dask.compute(*(X.blocks[number] for number in numbers))
        for number, chunk in zip(numbers, chunks, strict=True):
            copy[ends[number] - sizes[number] : ends[number]] = chunk
    return copy
