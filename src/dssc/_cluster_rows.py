"""Rows of a Dask array that stay on the workers of a cluster."""

import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils import gen_batches

from dssc._typing import Array

# Rows that a function of rows gets at once.
BATCH = 2048
# Bytes of a chunk, about.
CHUNK_BYTES = 1 << 24
# Bytes of chunks that are fetched together for a copy on disk.
FETCHED_BYTES = 1 << 26
# Up to this many bytes, a copy of all rows is held in memory.
IN_MEMORY_BYTES = 1 << 26


class ClusterRows:
    """Rows of a Dask array, computed where and when they are needed.

    Like a tensor on a device: indexing returns rows that stay there, and
    :func:`dssc._devices.as_array` brings them here.

    Parameters
    ----------
    array : dask.array.Array of shape (n_rows, n_columns)
        The rows, with one chunk per row.
    """

    ndim = 2

    def __init__(self, array: Any):
        self.array = array
        self._numbers: dict[str, Array] = {}

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of columns."""
        n, d = self.array.shape
        return int(n), int(d)

    @property
    def dtype(self) -> Any:
        """Type of the entries."""
        return self.array.dtype

    @property
    def key(self) -> str:
        """A key of what the rows are computed from."""
        return str(self.array.name)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> "ClusterRows":
        return ClusterRows(self.array[rows])

    def map_rows(self, function: Callable[[Array], Array], name: str) -> Array:
        """Return one number per row, by a function of rows that is called for each batch.

        The numbers are kept: a name must always stand for the same ones.
        """
        if name not in self._numbers:
            numbers = self.array.map_blocks(
                for_batches,
                function=function,
                drop_axis=1,
                dtype=np.float64,
                meta=np.empty(0),
                token=f"dssc-{name}",
            )
            self._numbers[name] = numbers.compute()
        return self._numbers[name].copy()

    def in_memory(self) -> Array:
        """Return all rows: in memory, or in an unnamed file if they are many."""
        n, d = self.shape
        if n * d * self.dtype.itemsize > IN_MEMORY_BYTES:
            return copy_to_disk(self.array)
        rows: Array = self.array.compute()
        return np.ascontiguousarray(rows)


def for_batches(rows: Array, function: Callable[[Array], Array]) -> Array:
    """Return the results of a function for batches of rows."""
    return np.concatenate([function(rows[batch]) for batch in gen_batches(rows.shape[0], BATCH)])


def whole_rows(X: Any) -> Any:
    """Return a Dask array with one chunk per row and no chunk without rows.

    Raise an error if the sizes of its chunks are not known.
    """
    if any(np.isnan(size) for size in X.shape):
        raise ValueError(
            "X is a Dask array with chunks of unknown size; call X.compute_chunk_sizes() first"
        )
    # Selecting rows can leave empty chunks.
    sizes = tuple(size for size in X.chunks[0] if size > 0) or (0,)
    return X.rechunk({0: sizes, **dict.fromkeys(range(1, X.ndim), -1)})


def batches_per_chunk(n_columns: int) -> int:
    """Return how many batches of single precision make a chunk: one, two, four, ..."""
    n_batches = max(1, CHUNK_BYTES // (4 * BATCH * n_columns))
    return int(1 << (n_batches.bit_length() - 1))


def copy_to_disk(X: Any) -> Array:
    """Return a Dask array of rows as a memory map of an unnamed file, copied chunk by chunk."""
    import dask

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
