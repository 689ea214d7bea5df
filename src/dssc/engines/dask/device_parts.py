"""Parts of a search on the device of a worker."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from dssc._devices import torch_device
from dssc._typing import Array
from dssc.stochastic.scan import TILE
from dssc.stochastic.scan_parts import OfBlock, Part, PartResult, find_candidates

# Tiles of products that are held at once.
TILES = 128


class Blocks(NamedTuple):
    """Blocks of points on the device: what `find_candidates` needs to know of them.

    Attributes
    ----------
    vectors : tensor of shape (n_blocks, TILE, n_features)
        Vectors; zero beyond the last point of a block.
    weights : tensor of shape (n_blocks, n_kinds, 4, TILE)
    thresholds : tensor of shape (n_blocks, n_kinds, TILE)
    widths : tensor of shape (n_blocks,)
        Numbers of points.
    """

    vectors: Tensor
    weights: Tensor
    thresholds: Tensor
    widths: Tensor

    def at(self, numbers: Tensor) -> "Blocks":
        """Return some blocks."""
        return Blocks(*(tensor[numbers] for tensor in self))


def find_candidates_on_device(
    part: Part, vectors_of: OfBlock, weights_of: OfBlock, device: str
) -> PartResult:
    """Return what `dssc.stochastic.scan_parts.find_candidates` returns, from products on a device.

    Products are rounded as float32 allows, so the bounds of the search hold for them. The first
    round, one pair of blocks in n / 512, is left to the processor.
    """
    if part.is_first:
        return find_candidates(part, vectors_of, weights_of)
    blocks = _on_device(part, vectors_of, weights_of, torch_device(device, None))
    numbers = torch.as_tensor(np.searchsorted(part.blocks, part.meetings[:, 1:]))
    with single_precision():
        found = [
            _of_meetings(blocks.at(i), blocks.at(j), part.signed)
            for i, j in (some.to(blocks.widths.device).T for some in numbers.split(TILES))
        ]
    arrays: list[Array] = []
    for of_kind in zip(*found, strict=True):
        arrays += [torch.cat(pieces).cpu().numpy() for pieces in zip(*of_kind, strict=True)]
    return PartResult.of(arrays)


def _on_device(part: Part, vectors_of: OfBlock, weights_of: OfBlock, place: torch.device) -> Blocks:
    """Return the blocks of a part on a device."""
    names = part.blocks
    n_kinds, n_features = len(part.thresholds[names[0]]), vectors_of(names[0]).shape[1]
    vectors = np.zeros((len(names), TILE, n_features), dtype=np.float32)
    weights = np.zeros((len(names), n_kinds, 4, TILE), dtype=np.float32)
    thresholds = np.zeros((len(names), n_kinds, TILE), dtype=np.float32)
    widths = np.empty(len(names), dtype=np.int64)
    for number, block in enumerate(names):
        rows = vectors_of(block)
        width = widths[number] = len(rows)
        vectors[number, :width] = rows
        weights[number, :, :, :width] = weights_of(block)
        thresholds[number, :, :width] = part.thresholds[block]
    return Blocks(
        *(torch.as_tensor(a, device=place) for a in (vectors, weights, thresholds, widths))
    )


def _of_meetings(left: Blocks, right: Blocks, signed: bool) -> list[tuple[Tensor, Tensor, Tensor]]:
    """Return the candidates of some meetings for every kind of lists, as in `Candidates`."""
    products = torch.bmm(left.vectors, right.vectors.mT)
    if signed:
        products.clamp_(min=0.0)
    inside = torch.arange(TILE, device=products.device)
    is_valid = inside < left.widths[:, None], inside < right.widths[:, None]
    candidates = []
    for kind in range(left.weights.shape[1]):
        owner, partner, margins, _ = left.weights[:, kind, :, :, None].unbind(dim=1)
        owners, partners, _, norms = right.weights[:, kind, :, None, :].unbind(dim=1)
        sizes = products.abs() + margins * norms
        is_above = sizes * (owner + partners) > left.thresholds[:, kind, :, None]
        is_above |= sizes * (owners + partner) > right.thresholds[:, kind, None, :]
        is_above &= is_valid[0][:, :, None] & is_valid[1][:, None, :]
        tile, row, column = is_above.nonzero(as_tuple=True)
        counts = torch.bincount(tile, minlength=len(products))
        places = row * right.widths[tile] + column
        candidates.append((counts, places.int(), products[tile, row, column]))
    return candidates


@contextmanager
def single_precision() -> Iterator[None]:
    """Multiply float32 matrices as such, not in the shorter formats that a program may allow."""
    usual = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(usual)
