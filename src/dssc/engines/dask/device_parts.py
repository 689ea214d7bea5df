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


class Block(NamedTuple):
    """A block of points on the device: what `find_candidates` needs to know of it.

    Attributes
    ----------
    vectors : tensor of shape (n_points, n_features)
    weights : tensor of shape (n_kinds, 4, n_points)
    thresholds : tensor of shape (n_kinds, n_points)
    """

    vectors: Tensor
    weights: Tensor
    thresholds: Tensor


def find_candidates_on_device(
    part: Part, vectors_of: OfBlock, weights_of: OfBlock, device: str
) -> PartResult:
    """Return what `dssc.stochastic.scan_parts.find_candidates` returns, from products on a device.

    Products are rounded as float32 allows, so the bounds of the search hold for them. The first
    round, one pair of blocks in n / 512, is left to the processor.
    """
    if part.is_first:
        return find_candidates(part, vectors_of, weights_of)
    place = torch_device(device, None)
    blocks = {
        block: Block(
            *(
                torch.as_tensor(np.array(array), device=place)
                for array in (vectors_of(block), weights_of(block), part.thresholds[block])
            )
        )
        for block in part.blocks
    }
    n_kinds = len(next(iter(blocks.values())).thresholds)
    found: list[list[tuple[Tensor, Tensor]]] = [[] for _ in range(n_kinds)]
    with single_precision():
        for left in np.unique(part.meetings[:, 1]):
            for kind, candidates in enumerate(_of_block(part, int(left), blocks)):
                found[kind].append(candidates)
    arrays: list[Array] = []
    for of_kind in found:
        keys, products = (torch.cat(pieces) for pieces in zip(*of_kind, strict=True))
        keys, order = torch.sort(keys)
        counts = torch.bincount(keys // TILE**2, minlength=len(part.meetings))
        in_order = counts, (keys % TILE**2).int(), products[order]
        arrays += [tensor.cpu().numpy() for tensor in in_order]
    return PartResult.of(arrays)


def _of_block(part: Part, left: int, blocks: dict[int, Block]) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield for every kind of lists the candidates of a block with all that it meets.

    A candidate is a number, of its meeting and of its place in the tile, and a product.
    """
    numbers = np.flatnonzero(part.meetings[:, 1] == left)
    others = [blocks[block] for block in part.meetings[numbers, 2].tolist()]
    rows, place = blocks[left], blocks[left].vectors.device
    vectors = torch.cat([block.vectors for block in others])
    weights = torch.cat([block.weights for block in others], dim=2)
    thresholds = torch.cat([block.thresholds for block in others], dim=1)
    widths = [len(block.vectors) for block in others]
    of_column = [
        [number * TILE**2 + np.arange(width), np.full(width, width)]
        for number, width in zip(numbers, widths, strict=True)
    ]
    base, step = torch.as_tensor(np.concatenate(of_column, axis=1), device=place)
    products = rows.vectors @ vectors.T
    if part.signed:
        products.clamp_(min=0.0)
    for kind in range(len(thresholds)):
        owner, partner, margins, _ = rows.weights[kind][:, :, None]
        owners, partners, _, norms = weights[kind]
        sizes = products.abs() + margins * norms
        is_above = sizes * (owner + partners) > rows.thresholds[kind][:, None]
        is_above |= sizes * (owners + partner) > thresholds[kind]
        r, c = is_above.nonzero(as_tuple=True)
        yield base[c] + r * step[c], products[r, c]


@contextmanager
def single_precision() -> Iterator[None]:
    """Multiply float32 matrices as such, not in the shorter formats that a program may allow."""
    usual = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(usual)
