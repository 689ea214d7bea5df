"""The vectors f of a factor in float64: held on the device, or computed there when needed.

With ``X'X + eta1 I = L L'`` they are the rows of ``X L'^-1``, X with rows of unit norm, in the
order of the factor; without L, for an infinite eta1, the rows of X.
"""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from scipy import sparse
from sklearn.utils import gen_batches
from torch import Tensor

from dssc._devices import is_single

# Samples that are held in float64 at once.
BLOCK = 1 << 16


def unit_rows(rows: Any, device: torch.device) -> Tensor:
    """Return some samples in float64 on a device, scaled to unit norm."""
    rows = rows.toarray() if sparse.issparse(rows) else rows
    rows = torch.as_tensor(rows).to(device, non_blocking=True).double()
    rows = rows / rows.abs().amax(dim=1, keepdim=True)
    return rows / torch.linalg.vector_norm(rows, dim=1, keepdim=True)


def _solved(cholesky: Tensor | None, rows: Tensor) -> Tensor:
    if cholesky is None:
        return rows
    return torch.linalg.solve_triangular(cholesky, rows.T, upper=False).T


class HeldRows:
    """All vectors on the device."""

    def __init__(self, X: Any, cholesky: Tensor | None, place: Tensor):
        n, d = X.shape
        self.vectors = torch.empty((n, d), dtype=torch.float64, device=place.device)
        for block in gen_batches(n, BLOCK):
            self.vectors[place[block]] = _solved(cholesky, unit_rows(X[block], place.device))

    def parts(self) -> Iterator[tuple[slice, Tensor]]:
        """Yield slices of the order and their vectors."""
        for block in gen_batches(len(self.vectors), BLOCK):
            yield block, self.vectors[block]

    def dots(self, rows: Tensor, columns: Tensor, multiply: Callable[..., Tensor]) -> Tensor:
        """Return the products of pairs, by `multiply(vectors, rows, columns)`."""
        return multiply(self.vectors, rows, columns)


class StreamedRows:
    """Vectors computed from samples in main memory, block by block, each ahead of its use.

    On a GPU, copies run beside the computation: samples are held in page-locked memory, in the
    factor's order.
    """

    def __init__(self, X: Any, cholesky: Tensor | None, place: Tensor):
        n, d = X.shape
        self.cholesky, self.device = cholesky, place.device
        on_gpu = self.device.type == "cuda"
        kind = torch.float32 if is_single(X) else torch.float64
        self.samples = torch.empty((n, d), dtype=kind, pin_memory=on_gpu)
        self.blocks = list(gen_batches(n, BLOCK))
        for block in self.blocks:
            rows = X[block].toarray() if sparse.issparse(X) else X[block]
            self.samples[place[block].cpu()] = torch.as_tensor(rows, device="cpu")
        self.copying = torch.cuda.Stream(self.device) if on_gpu else None

    def parts(self) -> Iterator[tuple[slice, Tensor]]:
        """Yield slices of the order and their vectors."""
        yield from zip(self.blocks, self._vectors(self.blocks), strict=True)

    def dots(self, rows: Tensor, columns: Tensor, multiply: Callable[..., Tensor]) -> Tensor:
        """Return the products of pairs, by `multiply(vectors, rows, columns)`."""
        out = torch.empty(len(rows), dtype=torch.float64, device=rows.device)
        cells, order = self._by_cells(rows, columns)
        needed = [self.blocks[column] for _, column, _ in cells]
        row, start, left = -1, 0, out
        for (i, _, count), right in zip(cells, self._vectors(needed), strict=True):
            if i != row:
                row, left = i, next(self._vectors([self.blocks[i]]))
            at = order[start : start + count]
            pair = torch.cat([left, right])
            inside = rows[at] % BLOCK, columns[at] % BLOCK + len(left)
            out[at] = multiply(pair, *inside)
            start += count
        return out

    def _by_cells(self, rows: Tensor, columns: Tensor) -> tuple[list[tuple[int, int, int]], Tensor]:
        """Return (row block, column block, number of pairs) of the pairs, and their order."""
        across = len(self.blocks)
        keys, order = torch.sort((rows // BLOCK) * across + columns // BLOCK, stable=True)
        cells, counts = torch.unique_consecutive(keys, return_counts=True)
        numbered = zip(cells.tolist(), counts.tolist(), strict=True)
        return [(*divmod(cell, across), count) for cell, count in numbered], order

    def _vectors(self, slices: list[slice]) -> Iterator[Tensor]:
        """Yield the vectors of slices one after the other; meanwhile the next is copied."""
        copies = self._copies(slices)
        ahead = next(copies, None)
        while ahead is not None:
            (rows, arrived), ahead = ahead, next(copies, None)
            if arrived is not None:
                torch.cuda.current_stream(self.device).wait_event(arrived)
                rows.record_stream(torch.cuda.current_stream(self.device))
            yield _solved(self.cholesky, unit_rows(rows, self.device))

    def _copies(self, slices: list[slice]) -> Iterator[tuple[Tensor, Any]]:
        """Yield samples on their way to the device, and the event of their arrival."""
        for block in slices:
            if self.copying is None:
                yield self.samples[block], None
            else:
                with torch.cuda.stream(self.copying):
                    rows = self.samples[block].to(self.device, non_blocking=True)
                yield rows, self.copying.record_event()
