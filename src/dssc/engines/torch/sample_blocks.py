"""Samples on their way to a device, block by block."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import torch
from scipy import sparse
from sklearn.utils import gen_batches
from torch import Tensor

from dssc import kernels
from dssc._devices import is_tensor
from dssc._threads import share_rows
from dssc._typing import Array

# Samples that are on the device at once.
BLOCK = 1 << 16
# Blocks in page-locked memory: one arrives while the next is read.
N_STAGED = 2


class SampleBlocks:
    """Samples as they are stored, brought to a device in their own order.

    So a memory map is read from front to back, and never as a whole.

    Parameters
    ----------
    X : ndarray, sparse matrix or tensor of shape (n_samples, n_features)
        The samples.
    device : torch.device
        Where they go.
    staged : bool
        Whether to read samples in main memory ahead of their use, through page-locked memory, so
        that copies run beside the computation on a GPU.
    """

    def __init__(self, X: Any, device: torch.device, staged: bool = False):
        self.X, self.device = X, device
        self.shape: tuple[int, int] = tuple(X.shape)
        self.block_rows = BLOCK
        self.slices = list(gen_batches(self.shape[0], BLOCK))
        is_here = not is_tensor(X) or X.device.type == "cpu"
        self.staged = staged and is_here and device.type == "cuda"

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return len(self.slices)

    def read(self, numbers: Iterable[int]) -> Iterator[tuple[slice, Tensor]]:
        """Yield samples by the numbers of their blocks, on the device."""
        slices = (self.slices[number] for number in numbers)
        if self.staged:
            yield from _Staging(self)(slices)
            return
        for block in slices:
            rows = self.X[block] if is_tensor(self.X) else as_tensor(self.in_main_memory(block))
            yield block, rows.to(self.device)

    def in_main_memory(self, block: slice) -> Array:
        """Return samples as an array."""
        rows = self.X[block]
        if is_tensor(rows):
            return rows.detach().numpy()
        return rows.toarray() if sparse.issparse(rows) else np.asarray(rows)


class _Staging:
    """Copies samples through page-locked memory, the next block while one is worked on."""

    def __init__(self, samples: SampleBlocks):
        self.samples = samples
        self.copying = torch.cuda.Stream(samples.device)
        self.buffers: list[Tensor] = []
        self.arrivals: list[Any] = []

    def __call__(self, slices: Iterator[slice]) -> Iterator[tuple[slice, Tensor]]:
        """Yield slices and their samples on the device."""
        current = torch.cuda.current_stream(self.samples.device)
        copies = (self._copy(number, block) for number, block in enumerate(slices))
        ahead = next(copies, None)
        while ahead is not None:
            (block, rows, arrived), ahead = ahead, next(copies, None)
            current.wait_event(arrived)
            rows.record_stream(current)
            yield block, rows

    def _copy(self, number: int, block: slice) -> tuple[slice, Tensor, Any]:
        """Return samples on their way to the device, and the event of their arrival."""
        rows = self.samples.in_main_memory(block)
        staged = self._buffer(number, rows)[: len(rows)]
        target = staged.numpy()

        def fill(part: slice) -> None:
            target[part] = rows[part]

        share_rows(fill, len(rows), kernels.python_threads_worth(rows.size))
        with torch.cuda.stream(self.copying):
            arriving = staged.to(self.samples.device, non_blocking=True)
        arrived = self.copying.record_event()
        self.arrivals[number % N_STAGED] = arrived
        return block, arriving, arrived

    def _buffer(self, number: int, rows: Array) -> Tensor:
        """Return a buffer that nothing is copied from any more."""
        if number < N_STAGED:
            kind = torch.float32 if rows.dtype == np.float32 else torch.float64
            shape = min(self.samples.block_rows, self.samples.shape[0]), rows.shape[1]
            self.buffers.append(torch.empty(shape, dtype=kind, pin_memory=True))
            self.arrivals.append(None)
        else:
            self.arrivals[number % N_STAGED].synchronize()
        return self.buffers[number % N_STAGED]


def as_tensor(rows: Array) -> Tensor:
    """Return an array as a tensor, copied if it may not be written, as a memory map."""
    return torch.from_numpy(rows if rows.flags.writeable else rows.copy())


def unit_rows(rows: Tensor) -> Tensor:
    """Return samples in float64, scaled to unit norm."""
    rows = rows.double()
    rows = rows / rows.abs().amax(dim=1, keepdim=True)
    return rows / torch.linalg.vector_norm(rows, dim=1, keepdim=True)
