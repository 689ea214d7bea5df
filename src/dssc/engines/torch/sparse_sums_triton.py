"""Sums over the rows of sparse matrices, each in one launch."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from dssc.engines.torch import sparse_sums
from dssc.engines.torch.graph import TorchCsr, TorchGraph
from dssc.engines.torch.newton_triton import LENGTH, ROWS, NewtonSystem, row_thresholds

__all__ = [
    "NewtonSystem",
    "combination",
    "positive_parts",
    "product",
    "row_thresholds",
]

# Rows, entries of each, and vectors that a program handles in products with several vectors.
FEW_ROWS, AHEAD, COLUMNS = 32, 4, 16


@triton.jit(do_not_specialize=["n"])
def _positive_parts_kernel(
    indptr, columns, values, w, n, out_sums, out_counts, out_positive,
    ROWS: tl.constexpr, LENGTH: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    start = tl.load(indptr + rows, mask=rows < n, other=0)
    stop = tl.load(indptr + rows + 1, mask=rows < n, other=0)
    own = tl.load(w + rows, mask=rows < n, other=0.0)
    sums = tl.zeros((ROWS, LENGTH), dtype=tl.float64)
    counts = tl.zeros((ROWS, LENGTH), dtype=tl.float64)
    for first in range(0, tl.max(stop - start), LENGTH):
        at = start[:, None] + first + tl.arange(0, LENGTH)[None, :]
        inside = at < stop[:, None]
        column = tl.load(columns + at, mask=inside, other=0)
        others = tl.load(w + column, mask=inside, other=0.0)
        slack = tl.load(values + at, mask=inside, other=0.0) - (own[:, None] + others)
        positive = inside & (slack > 0.0)
        sums += tl.where(positive, slack, 0.0)
        counts += tl.where(positive, 1.0, 0.0)
        tl.store(out_positive + at, positive.to(tl.int8), mask=inside)
    tl.store(out_sums + rows, tl.sum(sums, axis=1), mask=rows < n)
    tl.store(out_counts + rows, tl.sum(counts, axis=1), mask=rows < n)


@triton.jit(do_not_specialize=["n"])
def _product_kernel(indptr, columns, values, x, n, out, ROWS: tl.constexpr, LENGTH: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    start = tl.load(indptr + rows, mask=rows < n, other=0)
    stop = tl.load(indptr + rows + 1, mask=rows < n, other=0)
    total = tl.zeros((ROWS, LENGTH), dtype=tl.float64)
    for first in range(0, tl.max(stop - start), LENGTH):
        at = start[:, None] + first + tl.arange(0, LENGTH)[None, :]
        inside = at < stop[:, None]
        column = tl.load(columns + at, mask=inside, other=0)
        value = tl.load(values + at, mask=inside, other=0.0)
        total += value * tl.load(x + column, mask=inside, other=0.0)
    tl.store(out + rows, tl.sum(total, axis=1), mask=rows < n)


@triton.jit(do_not_specialize=["n"])
def _combination_kernel(
    indptr, columns, values, X, previous, n, width, scale, shift, weight, out,
    PREVIOUS: tl.constexpr, DTYPE: tl.constexpr, ROWS: tl.constexpr, AHEAD: tl.constexpr,
    COLUMNS: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    across = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    start = tl.load(indptr + rows, mask=rows < n, other=0)
    stop = tl.load(indptr + rows + 1, mask=rows < n, other=0)
    total = tl.zeros((ROWS, COLUMNS), dtype=DTYPE)
    for first in range(0, tl.max(stop - start), AHEAD):
        for step in tl.static_range(AHEAD):
            at = start + first + step
            inside = at < stop
            value = tl.load(values + at, mask=inside, other=0.0)
            column = tl.load(columns + at, mask=inside, other=0).to(tl.int64)
            reached = inside[:, None] & (across < width)
            entries = tl.load(X + column[:, None] * width + across, mask=reached, other=0.0)
            total += value[:, None] * entries
    valid = (rows < n)[:, None] & (across < width)
    at = rows.to(tl.int64)[:, None] * width + across
    total = scale * total + shift * tl.load(X + at, mask=valid, other=0.0)
    if PREVIOUS:
        total += weight * tl.load(previous + at, mask=valid, other=0.0)
    tl.store(out + at, total.to(DTYPE), mask=valid)


def positive_parts(graph: TorchGraph, w: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return sums and counts of the positive ``values - w_i - w_j`` by row, and marks of them."""
    n = len(w)
    totals, counts = torch.empty_like(w), torch.empty_like(w)
    positive = torch.empty(len(graph.values), dtype=torch.int8, device=w.device)
    _positive_parts_kernel[(triton.cdiv(n, ROWS),)](
        graph.indptr, graph.columns, graph.values, w, n, totals, counts, positive,
        ROWS=ROWS, LENGTH=LENGTH,
    )  # fmt: skip
    return totals, counts, positive


def product(csr: TorchCsr, x: Tensor) -> Tensor:
    """Return a CSR matrix times a vector, both in float64."""
    n = len(x)
    out = torch.empty_like(x)
    _product_kernel[(triton.cdiv(n, ROWS),)](*csr, x, n, out, ROWS=ROWS, LENGTH=LENGTH)
    return out


def combination(
    csr: TorchCsr,
    X: Tensor,
    scale: float,
    shift: float,
    previous: Tensor | None = None,
    weight: float = 0.0,
) -> Tensor:
    """Return ``scale A X + shift X + weight previous``."""
    if csr[0].dtype == torch.int64:  # a matrix of 2^31 entries; Triton 3.6 cannot compile for it
        return sparse_sums.combination(csr, X, scale, shift, previous, weight)
    n, width = X.shape
    X = X.contiguous()
    last = X if previous is None else previous.contiguous()
    out = torch.empty_like(X)
    _combination_kernel[(triton.cdiv(n, FEW_ROWS), triton.cdiv(width, COLUMNS))](
        *csr, X, last, n, width, scale, shift, weight, out,
        PREVIOUS=previous is not None, DTYPE=tl.float64 if X.dtype == torch.float64 else tl.float32,
        ROWS=FEW_ROWS, AHEAD=AHEAD, COLUMNS=COLUMNS,
    )  # fmt: skip
    return out
