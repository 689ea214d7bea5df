"""Newton's steps of the projection's dual on a GPU, in few launches.

Where kernels are short, launching them one by one takes longer than running them. So a step of
conjugate gradients is three kernels, and several steps are recorded and replayed together.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

from dssc.engines.torch.conjugate_gradients import CHECKED_EVERY, ConjugateGradients
from dssc.engines.torch.graph import TorchGraph
from dssc.stochastic.dual import LinearSolution

# Rows of a sparse matrix, and entries of each, that a program reads together.
ROWS, LENGTH = 16, 32
# Programs of a product, and of an update of vectors; each leaves a part of an inner product.
PRODUCT_PARTS, UPDATE_PARTS = 2048, 256
# Entries of a vector that a program updates together.
BLOCK = 512


@triton.jit(do_not_specialize=["n"])
def _product_kernel(
    indptr, columns, positive, diagonal, direction, n, product, parts,
    ROWS: tl.constexpr, LENGTH: tl.constexpr,
):  # fmt: skip
    dots = tl.zeros((ROWS,), dtype=tl.float64)
    for block in range(tl.program_id(0), tl.cdiv(n, ROWS), tl.num_programs(0)):
        rows = block * ROWS + tl.arange(0, ROWS)
        start = tl.load(indptr + rows, mask=rows < n, other=0)
        stop = tl.load(indptr + rows + 1, mask=rows < n, other=0)
        total = tl.zeros((ROWS, LENGTH), dtype=tl.float64)
        for first in range(0, tl.max(stop - start), LENGTH):
            at = start[:, None] + first + tl.arange(0, LENGTH)[None, :]
            inside = at < stop[:, None]
            taken = inside & (tl.load(positive + at, mask=inside, other=0) != 0)
            column = tl.load(columns + at, mask=taken, other=0)
            total += tl.load(direction + column, mask=taken, other=0.0)
        own = tl.load(direction + rows, mask=rows < n, other=0.0)
        made = own * tl.load(diagonal + rows, mask=rows < n, other=0.0) + tl.sum(total, axis=1)
        tl.store(product + rows, made, mask=rows < n)
        dots += own * made
    tl.store(parts + tl.program_id(0), tl.sum(dots))


@triton.jit(do_not_specialize=["n"])
def _advance_kernel(
    product, diagonal, direction, n, product_parts, rho, x, residual, parts,
    PRODUCT_PARTS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    curvature = tl.sum(tl.load(product_parts + tl.arange(0, PRODUCT_PARTS)))
    # Once the residual is zero, so is every step.
    length = tl.where(curvature == 0.0, 0.0, tl.load(rho) / curvature)
    dots = tl.zeros((BLOCK,), dtype=tl.float64)
    for block in range(tl.program_id(0), tl.cdiv(n, BLOCK), tl.num_programs(0)):
        at = block * BLOCK + tl.arange(0, BLOCK)
        moved = tl.load(x + at, mask=at < n, other=0.0)
        moved += length * tl.load(direction + at, mask=at < n, other=0.0)
        tl.store(x + at, moved, mask=at < n)
        left = tl.load(residual + at, mask=at < n, other=0.0)
        left -= length * tl.load(product + at, mask=at < n, other=0.0)
        tl.store(residual + at, left, mask=at < n)
        dots += left * left / tl.load(diagonal + at, mask=at < n, other=1.0)
    tl.store(parts + tl.program_id(0), tl.sum(dots))


@triton.jit(do_not_specialize=["n"])
def _turn_kernel(
    residual, diagonal, n, parts, rho, new_rho, direction,
    UPDATE_PARTS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    new = tl.sum(tl.load(parts + tl.arange(0, UPDATE_PARTS)))
    old = tl.load(rho)
    ratio = tl.where(old == 0.0, 0.0, new / old)
    for block in range(tl.program_id(0), tl.cdiv(n, BLOCK), tl.num_programs(0)):
        at = block * BLOCK + tl.arange(0, BLOCK)
        turned = ratio * tl.load(direction + at, mask=at < n, other=0.0)
        turned += tl.load(residual + at, mask=at < n, other=0.0) / tl.load(
            diagonal + at, mask=at < n, other=1.0
        )
        tl.store(direction + at, turned, mask=at < n)
    if tl.program_id(0) == 0:
        tl.store(new_rho, new)


@triton.jit(do_not_specialize=["n"])
def _row_thresholds_kernel(
    indptr, columns, values, w, targets, n, out, ROWS: tl.constexpr, LENGTH: tl.constexpr
):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    start = tl.load(indptr + rows, mask=rows < n, other=0)
    stop = tl.load(indptr + rows + 1, mask=rows < n, other=0)
    target = tl.load(targets + rows, mask=rows < n, other=0.0)
    longest = tl.max(stop - start)
    highest = tl.full((ROWS, LENGTH), float("-inf"), dtype=tl.float64)
    for first in range(0, longest, LENGTH):
        at = start[:, None] + first + tl.arange(0, LENGTH)[None, :]
        inside = at < stop[:, None]
        column = tl.load(columns + at, mask=inside, other=0)
        entries = tl.load(values + at, mask=inside, other=0.0)
        entries -= tl.load(w + column, mask=inside, other=0.0)
        highest = tl.maximum(highest, tl.where(inside, entries, float("-inf")))
    threshold = tl.where(rows < n, tl.max(highest, axis=1) - target, 0.0)
    counts = tl.zeros((ROWS,), dtype=tl.float64)
    n_open = 1
    while n_open > 0:  # Michelot's iteration: thresholds can only rise, and end exactly
        excess = tl.zeros((ROWS, LENGTH), dtype=tl.float64)
        above = tl.zeros((ROWS, LENGTH), dtype=tl.float64)
        for first in range(0, longest, LENGTH):
            at = start[:, None] + first + tl.arange(0, LENGTH)[None, :]
            inside = at < stop[:, None]
            column = tl.load(columns + at, mask=inside, other=0)
            entries = tl.load(values + at, mask=inside, other=0.0)
            entries -= tl.load(w + column, mask=inside, other=0.0)
            entries -= threshold[:, None]
            positive = inside & (entries > 0.0)
            excess += tl.where(positive, entries, 0.0)
            above += tl.where(positive, 1.0, 0.0)
        total, now = tl.sum(excess, axis=1), tl.sum(above, axis=1)
        is_open = (now != counts) & (rows < n)
        rises = is_open & (total > target)
        threshold += tl.where(rises, (total - target) / tl.maximum(now, 1.0), 0.0)
        counts = now
        n_open = tl.sum(is_open.to(tl.int32))
    tl.store(out + rows, threshold, mask=rows < n)


def row_thresholds(graph: TorchGraph, w: Tensor, targets: Tensor) -> Tensor:
    """Return t with ``sum_j [values_ij - w_j - t_i]_+ = targets_i`` for every row."""
    n = graph.n_rows
    out = torch.empty_like(w)
    _row_thresholds_kernel[(triton.cdiv(n, ROWS),)](
        graph.indptr, graph.columns, graph.values, w, targets, n, out, ROWS=ROWS, LENGTH=LENGTH
    )
    return out


class NewtonSystem(ConjugateGradients):
    """The systems ``(diag(diagonal) + S) x = rhs`` for subsets S of the pattern of one graph."""

    def __init__(self, graph: TorchGraph):
        self.graph = graph
        diagonal = torch.empty(graph.n_rows, dtype=torch.float64, device=graph.values.device)
        super().__init__(lambda x: x, diagonal, recorded=True)
        self.positive = torch.empty(len(graph.values), dtype=torch.int8, device=diagonal.device)
        self.product, self.new_rho = torch.empty_like(diagonal), torch.empty_like(self.rho)
        self.product_parts = diagonal.new_empty(PRODUCT_PARTS)
        self.update_parts = diagonal.new_empty(UPDATE_PARTS)

    def solve_for(
        self, positive: Tensor, diagonal: Tensor, rhs: Tensor, tol: float, max_steps: int
    ) -> LinearSolution:
        """Solve for the entries that are marked, and a diagonal."""
        self.positive.copy_(positive)
        self.diagonal.copy_(diagonal)
        return self.solve(rhs, tol, max_steps)

    def _take_steps(self) -> None:
        for _ in range(CHECKED_EVERY // 2):
            self._step(self.rho, self.new_rho)
            self._step(self.new_rho, self.rho)

    def _step(self, rho: Tensor, new_rho: Tensor) -> None:
        graph, n = self.graph, len(self.diagonal)
        _product_kernel[(PRODUCT_PARTS,)](
            graph.indptr, graph.columns, self.positive, self.diagonal, self.direction, n,
            self.product, self.product_parts, ROWS=ROWS, LENGTH=LENGTH,
        )  # fmt: skip
        _advance_kernel[(UPDATE_PARTS,)](
            self.product, self.diagonal, self.direction, n, self.product_parts, rho,
            self.x, self.residual, self.update_parts, PRODUCT_PARTS=PRODUCT_PARTS, BLOCK=BLOCK,
        )  # fmt: skip
        _turn_kernel[(UPDATE_PARTS,)](
            self.residual, self.diagonal, n, self.update_parts, rho, new_rho, self.direction,
            UPDATE_PARTS=UPDATE_PARTS, BLOCK=BLOCK,
        )  # fmt: skip
