"""The vectors f of a factor in float64: held on the device, or computed there when needed.

With ``X'X + eta1 I = L L'`` they are the rows of ``X L'^-1``, X with rows of unit norm; without L,
for an infinite eta1, the rows of X. Both ways give the same bits: samples are read in their own
order, the same blocks together.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, groupby
from typing import NamedTuple

import torch
from torch import Tensor

from dssc.engines.torch.sample_blocks import SampleBlocks, unit_rows

# The share of the free memory in which a stream of vectors may hold some of them.
HELD_SHARE = 0.25


def _solved(cholesky: Tensor | None, rows: Tensor) -> Tensor:
    if cholesky is None:
        return rows
    return torch.linalg.solve_triangular(cholesky, rows.T, upper=False).T


class HeldRows:
    """All vectors on the device.

    Parameters
    ----------
    samples : SampleBlocks
        The samples.
    cholesky : tensor or None
        The L above.
    place : tensor of shape (n,)
        The place of every sample in the factor's order.
    """

    def __init__(self, samples: SampleBlocks, cholesky: Tensor | None, place: Tensor):
        self.samples, self.place = samples, place
        self.vectors = torch.empty(samples.shape, dtype=torch.float64, device=place.device)
        for block, rows in samples.read(range(samples.n_blocks)):
            self.vectors[place[block]] = _solved(cholesky, unit_rows(rows))

    def parts(self) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield places in the factor's order and the vectors there."""
        for block in self.samples.slices:
            places = self.place[block]
            yield places, self.vectors[places]

    def dots(self, rows: Tensor, columns: Tensor, multiply: Callable[..., Tensor]) -> Tensor:
        """Return the products of pairs, by `multiply(vectors, rows, columns)`."""
        return multiply(self.vectors, rows, columns)


class Slab(NamedTuple):
    """Consecutive blocks that are held while others meet them.

    Attributes
    ----------
    blocks : range
        The blocks that are held.
    cells : list of (int, int)
        Every block that they meet, themselves or later ones, and the number of pairs.
    """

    blocks: range
    cells: list[tuple[int, int]]

    def read(self) -> Iterable[int]:
        """Return the blocks to be read, in the order of their use."""
        return chain(self.blocks, (block for block, _ in self.cells if block >= self.blocks.stop))


class StreamedRows:
    """Vectors computed block by block from samples in main memory, each ahead of its use.

    Parameters are those of `HeldRows`.
    """

    def __init__(self, samples: SampleBlocks, cholesky: Tensor | None, place: Tensor):
        self.samples, self.cholesky, self.place = samples, cholesky, place
        self.sample_at = torch.argsort(place)

    def parts(self) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield places in the factor's order and the vectors there."""
        for block, vectors in self._vectors(range(self.samples.n_blocks)):
            yield self.place[block], vectors

    def dots(self, rows: Tensor, columns: Tensor, multiply: Callable[..., Tensor]) -> Tensor:
        """Return the products of pairs, by `multiply(vectors, rows, columns)`.

        As many blocks are held as there is memory for, and all later ones meet them. So the samples
        are read about half as often as there are slabs.
        """
        out = torch.empty(len(rows), dtype=torch.float64, device=rows.device)
        pairs = self._in_samples_order(rows, columns)
        slabs, order = self._by_slabs(*pairs)
        reading = self._vectors(chain.from_iterable(slab.read() for slab in slabs))
        size, start = self.samples.block_rows, 0
        longest = max((len(slab.blocks) for slab in slabs), default=0)
        vectors = out.new_empty(((longest + 1) * size, self.samples.shape[1]))
        for slab in slabs:
            first, beyond = slab.blocks.start * size, len(slab.blocks) * size
            for number in range(len(slab.blocks)):
                self._place_next(reading, vectors[number * size :])
            for block, count in slab.cells:
                shift = first
                if block >= slab.blocks.stop:
                    self._place_next(reading, vectors[beyond:])
                    shift = block * size - beyond
                at = order[start : start + count]
                out[at] = multiply(vectors, pairs[0][at] - first, pairs[1][at] - shift)
                start += count
        return out

    def _in_samples_order(self, rows: Tensor, columns: Tensor) -> tuple[Tensor, Tensor]:
        """Return the samples of pairs, the lower one first: a product has the same bits."""
        one, other = self.sample_at[rows], self.sample_at[columns]
        return torch.minimum(one, other), torch.maximum(one, other)

    def _by_slabs(self, low: Tensor, high: Tensor) -> tuple[list[Slab], Tensor]:
        """Return the slabs of pairs of samples with what they meet, and the order of the pairs."""
        across, size, height = self.samples.n_blocks, self.samples.block_rows, self._n_held()
        keys = torch.div(low, height * size, rounding_mode="floor") * across
        keys += torch.div(high, size, rounding_mode="floor")
        keys, order = torch.sort(keys, stable=True)
        cells, counts = torch.unique_consecutive(keys, return_counts=True)
        numbered = zip(cells.tolist(), counts.tolist(), strict=True)
        slabs = [
            Slab(
                range(number * height, min(across, (number + 1) * height)),
                [(cell % across, count) for cell, count in of_slab],
            )
            for number, of_slab in groupby(numbered, key=lambda cell: cell[0] // across)
        ]
        return slabs, order

    def _n_held(self) -> int:
        """Return the number of blocks that a slab may hold."""
        free = free_bytes(self.place.device)
        block = self.samples.block_rows * self.samples.shape[1] * 8
        return 1 if free is None else max(1, int(HELD_SHARE * free) // block)

    def _place_next(self, reading: Iterator[tuple[slice, Tensor]], place: Tensor) -> None:
        _, vectors = next(reading)
        place[: len(vectors)] = vectors

    def _vectors(self, numbers: Iterable[int]) -> Iterator[tuple[slice, Tensor]]:
        """Yield the samples of blocks and their vectors."""
        for block, rows in self.samples.read(numbers):
            yield block, _solved(self.cholesky, unit_rows(rows))


def free_bytes(device: torch.device) -> int | None:
    """Return the memory of a GPU that this process may still use; None for a processor."""
    if device.type != "cuda":
        return None
    free, _ = torch.cuda.mem_get_info(device)
    return int(free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device))
