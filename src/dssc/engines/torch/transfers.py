"""Copying results from a device to main memory.

A plain copy to new memory takes longer than many results take to compute: the driver waits for the
system to make its pages one by one. So pieces go to page-locked memory first, and from there to
their place, each on a thread of its own. The threads of OpenMP would wait for each other, which
takes a hundred times as long as the copy while those of BLAS spin.
"""

from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache

import numpy as np
import torch
from torch import Tensor

from dssc._typing import Array

# Bytes of a piece, and pieces at a time; they stay allocated for the next copy.
PIECE, N_PIECES = 1 << 20, 8
# Fewer bytes than this are copied plainly.
FEWEST = 1 << 18


def on_host(tensor: Tensor) -> Array:
    """Return a tensor as an array in main memory."""
    if tensor.device.type != "cuda" or tensor.nbytes < FEWEST:
        return tensor.cpu().numpy()
    out = np.empty(tuple(tensor.shape), dtype=_numpy_type(tensor.dtype))
    copy_in_pieces(tensor.contiguous().view(-1), out.reshape(-1), pinned=True)
    return out


def copy_in_pieces(source: Tensor, target: Array, *, pinned: bool) -> None:
    """Copy a vector through a few pieces of memory, some filled while others are emptied."""
    size = PIECE // source.element_size()
    pieces = [torch.empty(size, dtype=source.dtype, pin_memory=pinned) for _ in range(N_PIECES)]
    emptied: list[Future[None] | None] = [None] * N_PIECES
    for number, part in enumerate(source.split(size) if len(source) else ()):
        piece, earlier = pieces[number % N_PIECES][: len(part)], emptied[number % N_PIECES]
        if earlier is not None:
            earlier.result()
        piece.copy_(part, non_blocking=pinned)
        arrival = torch.cuda.current_stream().record_event() if pinned else None
        place = target[number * size : number * size + len(part)]
        emptied[number % N_PIECES] = _threads().submit(_empty, piece, arrival, place)
    for future in emptied:
        if future is not None:
            future.result()


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(N_PIECES)


def _empty(piece: Tensor, arrival: torch.cuda.Event | None, place: Array) -> None:
    """Copy a piece to its place once it has arrived."""
    if arrival is not None:
        arrival.synchronize()
    np.copyto(place, piece.numpy())


def _numpy_type(dtype: torch.dtype) -> np.dtype:
    return torch.empty(0, dtype=dtype).numpy().dtype
