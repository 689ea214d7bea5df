"""Copying results from a device to main memory.

A plain copy to new memory takes longer than many results take to compute: the driver waits for the
system to make its pages one by one. So pieces go to page-locked memory first, and from there to
their place on all threads.
"""

import numpy as np
import torch
from torch import Tensor

from dssc._typing import Array

# Bytes of a piece, which stay allocated for the next copy.
PIECE = 1 << 23
# Fewer bytes than this are copied plainly.
FEWEST = 1 << 18


def on_host(tensor: Tensor) -> Array:
    """Return a tensor as an array in main memory."""
    if tensor.device.type != "cuda" or tensor.nbytes < FEWEST:
        return tensor.cpu().numpy()
    out = np.empty(tuple(tensor.shape), dtype=_numpy_type(tensor.dtype))
    copy_in_pieces(tensor.contiguous().view(-1), torch.from_numpy(out).view(-1), pinned=True)
    return out


def copy_in_pieces(source: Tensor, target: Tensor, *, pinned: bool) -> None:
    """Copy a vector through two pieces of memory, of which one is filled while one is emptied."""
    size = PIECE // source.element_size()
    pieces = [torch.empty(size, dtype=source.dtype, pin_memory=pinned) for _ in range(2)]
    starts = range(0, len(source), size)
    arrived: list[torch.cuda.Event | None] = [None, None]
    for number in range(len(starts) + 1):
        if number < len(starts):  # the piece was emptied in the last round but one
            part = source[starts[number] : starts[number] + size]
            pieces[number % 2][: len(part)].copy_(part, non_blocking=pinned)
            arrived[number % 2] = torch.cuda.current_stream().record_event() if pinned else None
        if number > 0:
            event = arrived[(number - 1) % 2]
            if event is not None:
                event.synchronize()
            place = target[starts[number - 1] : starts[number - 1] + size]
            place.copy_(pieces[(number - 1) % 2][: len(place)])


def _numpy_type(dtype: torch.dtype) -> np.dtype:
    return torch.empty(0, dtype=dtype).numpy().dtype
