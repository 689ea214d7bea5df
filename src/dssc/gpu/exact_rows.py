"""The vectors f of a factor in float64: held on the device, or computed there when asked for.

With ``X'X + eta1 I = L L'`` they are the rows of ``X L'^-1``, X with rows of unit norm, in the
order of the factor.
"""

import torch
from scipy import sparse

from dssc._devices import is_single

BLOCK = 1 << 16  # samples in float64 at once


def blocks(n: int):
    """Cut n rows into slices."""
    return [slice(start, min(n, start + BLOCK)) for start in range(0, n, BLOCK)]


def unit_rows(rows, device):
    """Return some samples in float64 on a device, scaled to unit norm."""
    rows = rows.toarray() if sparse.issparse(rows) else rows
    rows = torch.as_tensor(rows).to(device, non_blocking=True).double()
    rows = rows / rows.abs().amax(dim=1, keepdim=True)
    return rows / torch.linalg.vector_norm(rows, dim=1, keepdim=True)


def _solved(cholesky, rows):
    return torch.linalg.solve_triangular(cholesky, rows.T, upper=False).T


class HeldRows:
    """All vectors on the device."""

    def __init__(self, X, cholesky, place):
        n, d = X.shape
        self.vectors = torch.empty((n, d), dtype=torch.float64, device=place.device)
        for block in blocks(n):
            self.vectors[place[block]] = _solved(cholesky, unit_rows(X[block], place.device))

    def parts(self):
        """Give slices of the order and their vectors."""
        for block in blocks(len(self.vectors)):
            yield block, self.vectors[block]

    def dots(self, rows, columns, multiply):
        """Return the products of pairs, by `multiply(vectors, rows, columns)`."""
        return multiply(self.vectors, rows, columns)


class StreamedRows:
    """Vectors computed from samples in main memory, a block at a time, each ahead of its use.

    Copies run beside the computation on a GPU: samples are held in page-locked memory, in the
    factor's order.
    """

    def __init__(self, X, cholesky, place):
        n, d = X.shape
        self.cholesky, self.device = cholesky, place.device
        on_gpu = self.device.type == "cuda"
        kind = torch.float32 if is_single(X) else torch.float64
        self.samples = torch.empty((n, d), dtype=kind, pin_memory=on_gpu)
        for block in blocks(n):
            rows = X[block].toarray() if sparse.issparse(X) else X[block]
            self.samples[place[block].cpu()] = torch.as_tensor(rows, device="cpu")
        self.copying = torch.cuda.Stream(self.device) if on_gpu else None

    def parts(self):
        """Give slices of the order and their vectors."""
        slices = blocks(len(self.samples))
        yield from zip(slices, self._vectors(slices), strict=True)

    def dots(self, rows, columns, multiply):
        """Return the products of pairs, by `multiply(vectors, rows, columns)`."""
        out = torch.empty(len(rows), dtype=torch.float64, device=rows.device)
        cells, order = self._by_cells(rows, columns)
        needed = [self._slice(column) for _, column, _ in cells]
        row, start, left = -1, 0, self.cholesky
        for (i, _, count), right in zip(cells, self._vectors(needed), strict=True):
            if i != row:
                row, left = i, next(self._vectors([self._slice(i)]))
            at = order[start : start + count]
            pair = torch.cat([left, right])
            inside = rows[at] % BLOCK, columns[at] % BLOCK + len(left)
            out[at] = multiply(pair, *inside)
            start += count
        return out

    def _slice(self, number):
        return slice(number * BLOCK, min(len(self.samples), (number + 1) * BLOCK))

    def _by_cells(self, rows, columns):
        """Return (row block, column block, number of pairs) of what is asked, and its order."""
        across = -(-len(self.samples) // BLOCK)
        keys, order = torch.sort((rows // BLOCK) * across + columns // BLOCK, stable=True)
        found, counts = torch.unique_consecutive(keys, return_counts=True)
        pairs = zip(found.tolist(), counts.tolist(), strict=True)
        return [(*divmod(key, across), count) for key, count in pairs], order

    def _vectors(self, slices):
        """Give the vectors of slices one after the other; the next is copied meanwhile."""
        copies = self._copies(slices)
        ahead = next(copies, None)
        while ahead is not None:
            (rows, arrived), ahead = ahead, next(copies, None)
            if arrived is not None:
                torch.cuda.current_stream(self.device).wait_event(arrived)
                rows.record_stream(torch.cuda.current_stream(self.device))
            yield _solved(self.cholesky, unit_rows(rows, self.device))

    def _copies(self, slices):
        """Give samples on their way to the device, and the event of their arrival."""
        for block in slices:
            if self.copying is None:
                yield self.samples[block], None
                continue
            with torch.cuda.stream(self.copying):
                rows = self.samples[block].to(self.device, non_blocking=True)
            yield rows, self.copying.record_event()
