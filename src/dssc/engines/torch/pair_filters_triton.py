"""Filters over all pairs of points, fused with their products on the tensor cores.

The kernels do what :mod:`.pair_filters` does without ever writing a product to memory: a tile of
products stays in registers, and one bit per pair says whether it passed. The operands of a tile
come through the tensor memory accelerator; plain loads were seen to be compiled wrongly (all sums
zero) with more than two stages.
"""

import sys
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor
from triton.tools.tensor_descriptor import TensorDescriptor

from dssc.engines.torch import pair_filters
from dssc.engines.torch.pair_filters import GROUP, Bounds

# Rows and columns of a tile.
TILE = GROUP
# Bytes of a row that are multiplied at once.
DEPTH = 128
# Bits of a word.
WORD = 32
# Rows and columns that one launch filters.
SIDE = 1 << 16
# Rows of tiles that are processed together, their operands in the cache.
SWATH = 16
# Points on which the kernels are compared with plain ones.
CHECKED = 1024
# Pairs, and numbers of each, that one program multiplies.
PAIRS, NUMBERS = 16, 64
_THIS_MODULE = sys.modules[__name__]


@triton.jit
def _tile_bounds(
    left, right, row, column, own_offsets, offsets, own_errors, errors, own_weights, weights,
    n_rows, n_columns,
    SIGNED: tl.constexpr, WIDTH: tl.constexpr, TILE: tl.constexpr, DEPTH: tl.constexpr,
):  # fmt: skip
    """Return the bounds of a tile; vectors beyond the last count as zero."""
    total = tl.zeros((TILE, TILE), dtype=tl.float32)
    for start in range(0, WIDTH, DEPTH):
        total = tl.dot(left.load([row, start]), right.load([column, start]).T, total)
    rows, columns = row + tl.arange(0, TILE), column + tl.arange(0, TILE)
    own_offset = tl.load(own_offsets + rows, mask=rows < n_rows, other=0.0)
    offset = tl.load(offsets + columns, mask=columns < n_columns, other=0.0)
    own_error = tl.load(own_errors + rows, mask=rows < n_rows, other=0.0)
    error = tl.load(errors + columns, mask=columns < n_columns, other=0.0)
    own_weight = tl.load(own_weights + rows, mask=rows < n_rows, other=0.0)
    weight = tl.load(weights + columns, mask=columns < n_columns, other=0.0)
    total += own_offset[:, None] + offset[None, :]
    sizes = tl.maximum(total, 0.0) if SIGNED else tl.abs(total)
    sizes += own_error[:, None] + error[None, :]
    return sizes * (own_weight[:, None] + weight[None, :])


@triton.jit
def _words_kernel(
    left, right, own_offsets, offsets, own_errors, errors, own_weights, weights,
    row_limits, column_limits,
    n_rows, n_columns, below, out, n_words,
    JOINED: tl.constexpr, SIGNED: tl.constexpr, WIDTH: tl.constexpr, TILE: tl.constexpr,
    DEPTH: tl.constexpr, SWATH: tl.constexpr, WORD: tl.constexpr,
):  # fmt: skip
    down, across = tl.cdiv(n_rows, TILE), tl.cdiv(n_columns, TILE)
    number = tl.program_id(0)
    swath = number // (SWATH * across) * SWATH
    height = min(down - swath, SWATH)
    inside = number % (SWATH * across)
    row, column = (swath + inside % height) * TILE, inside // height * TILE
    words: tl.constexpr = TILE // WORD
    rows, columns = row + tl.arange(0, TILE), column + tl.arange(0, TILE)
    places = rows.to(tl.int64)[:, None] * n_words + column // WORD + tl.arange(0, words)[None, :]
    if row >= column + below:  # a tile of pairs i > j
        tl.store(out + places, tl.zeros((TILE, words), dtype=tl.int32))
    else:
        bounds = _tile_bounds(
            left, right, row, column, own_offsets, offsets, own_errors, errors, own_weights,
            weights, n_rows, n_columns, SIGNED, WIDTH, TILE, DEPTH,
        )  # fmt: skip
        beyond = float("inf")
        own_limits = tl.load(row_limits + rows, mask=rows < n_rows, other=beyond)
        limits = tl.load(column_limits + columns, mask=columns < n_columns, other=beyond)
        if JOINED:
            limits = own_limits[:, None] + limits[None, :]
        else:
            limits = tl.minimum(own_limits[:, None], limits[None, :])
        hits = bounds > limits
        bits = tl.full((TILE,), 1, dtype=tl.int32) << (tl.arange(0, TILE) % WORD)
        packed = tl.where(hits, bits[None, :], 0)
        tl.store(out + places, tl.sum(tl.reshape(packed, (TILE, words, WORD)), axis=2))


@triton.jit
def _maxima_kernel(
    vectors, offsets, errors, weights, n, n_groups, tiles_per_group, out,
    SIGNED: tl.constexpr, WIDTH: tl.constexpr, TILE: tl.constexpr, DEPTH: tl.constexpr,
):  # fmt: skip
    group = tl.program_id(1)
    row = tl.program_id(0) * TILE
    rows = row + tl.arange(0, TILE)
    largest = tl.full((TILE,), float("-inf"), dtype=tl.float32)
    for tile in range(group * tiles_per_group, (group + 1) * tiles_per_group):
        columns = tile * TILE + tl.arange(0, TILE)
        bounds = _tile_bounds(
            vectors, vectors, row, tile * TILE, offsets, offsets, errors, errors, weights,
            weights, n, n,
            SIGNED, WIDTH, TILE, DEPTH,
        )  # fmt: skip
        counts = (rows[:, None] != columns[None, :]) & (columns[None, :] < n)
        largest = tl.maximum(largest, tl.max(tl.where(counts, bounds, float("-inf")), axis=1))
    tl.store(out + rows.to(tl.int64) * n_groups + group, largest, mask=rows < n)


@triton.jit
def _dots_kernel(
    vectors, rows, columns, n_pairs, out,
    WIDTH: tl.constexpr, DTYPE: tl.constexpr, PAIRS: tl.constexpr, DEPTH: tl.constexpr,
):  # fmt: skip
    pairs = tl.program_id(0).to(tl.int64) * PAIRS + tl.arange(0, PAIRS)
    valid = pairs < n_pairs
    left = tl.load(rows + pairs, mask=valid, other=0)[:, None] * WIDTH
    right = tl.load(columns + pairs, mask=valid, other=0)[:, None] * WIDTH
    total = tl.zeros((PAIRS, DEPTH), dtype=DTYPE)
    for start in range(0, WIDTH, DEPTH):
        depth = start + tl.arange(0, DEPTH)[None, :]
        inside = valid[:, None] & (depth < WIDTH)
        a = tl.load(vectors + left + depth, mask=inside, other=0.0).to(DTYPE)
        total += a * tl.load(vectors + right + depth, mask=inside, other=0.0).to(DTYPE)
    tl.store(out + pairs, tl.sum(total, axis=1), mask=valid)


def _shape(vectors: Tensor) -> dict[str, int]:
    depth = DEPTH // vectors.element_size()
    return {"TILE": TILE, "DEPTH": depth, "num_warps": 4, "num_stages": 3}


def _tiled(vectors: Tensor) -> Any:
    return TensorDescriptor.from_tensor(vectors, [TILE, DEPTH // vectors.element_size()])


def group_maxima(bounds: Bounds, n_groups: int, tiles_per_group: int) -> Tensor:
    """Return the largest bound of every point in each group of columns."""
    n, width = bounds.vectors.shape
    out = torch.empty((n, n_groups), dtype=torch.float32, device=bounds.weights.device)
    _maxima_kernel[(triton.cdiv(n, TILE), n_groups)](
        _tiled(bounds.vectors), bounds.offsets, bounds.errors, bounds.weights,
        n, n_groups, tiles_per_group, out,
        SIGNED=bounds.signed, WIDTH=width, **_shape(bounds.vectors),
    )  # fmt: skip
    return out


def pairs_above(bounds: Bounds, thresholds: Tensor, joined: bool) -> tuple[Tensor, Tensor]:
    """Return the pairs i < j whose bound is above a threshold."""
    n = len(bounds.weights)
    parts_of_pairs = [
        _pairs(bounds, thresholds, slice(i, min(n, i + SIDE)), slice(j, min(n, j + SIDE)), joined)
        for i in range(0, n, SIDE)
        for j in range(i, n, SIDE)
    ]
    rows, columns = (torch.cat(parts) for parts in zip(*parts_of_pairs, strict=True))
    return rows, columns


def _pairs(
    bounds: Bounds, limits: Tensor, rows: slice, columns: slice, joined: bool
) -> tuple[Tensor, Tensor]:
    """Return the pairs i < j of some rows and columns that pass."""
    words = _words(bounds, limits, rows, columns, joined)
    n_words = words.shape[1]
    at = torch.nonzero(words.view(-1)).view(-1)
    bits = torch.arange(WORD, dtype=torch.int32, device=at.device)
    word, bit = torch.nonzero((words.view(-1)[at, None] >> bits) & 1).unbind(dim=1)
    at = at[word]
    i = torch.div(at, n_words, rounding_mode="floor")
    j = (at - i * n_words) * WORD + bit
    i, j = i + rows.start, j + columns.start
    if rows == columns:
        upper = torch.nonzero(i < j).view(-1)
        i, j = i[upper], j[upper]
    return i, j


def _words(bounds: Bounds, limits: Tensor, rows: slice, columns: slice, joined: bool) -> Tensor:
    """Return a bit for each pair of some rows and columns, WORD of them in a number."""
    left, right = bounds.vectors[rows], bounds.vectors[columns]
    down, across = triton.cdiv(len(left), TILE), triton.cdiv(len(right), TILE)
    n_words = across * (TILE // WORD)
    out = torch.empty((down * TILE, n_words), dtype=torch.int32, device=left.device)
    _words_kernel[(down * across,)](
        _tiled(left), _tiled(right),
        bounds.offsets[rows], bounds.offsets[columns],
        bounds.errors[rows], bounds.errors[columns], bounds.weights[rows], bounds.weights[columns],
        limits[rows], limits[columns],
        len(left), len(right), TILE if rows == columns else SIDE, out, n_words,
        JOINED=joined, SIGNED=bounds.signed, WIDTH=left.shape[1], SWATH=SWATH, WORD=WORD,
        **_shape(left),
    )  # fmt: skip
    return out


def dots(vectors: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """Return the products of pairs of vectors, in float64 if the vectors are, else in float32."""
    exact = vectors.dtype == torch.float64
    out = torch.empty(
        len(rows), dtype=torch.float64 if exact else torch.float32, device=rows.device
    )
    if len(rows):
        _dots_kernel[(triton.cdiv(len(rows), PAIRS),)](
            vectors, rows.contiguous(), columns.contiguous(), len(rows), out,
            WIDTH=vectors.shape[1], PAIRS=PAIRS, DEPTH=NUMBERS,
            DTYPE=tl.float64 if exact else tl.float32,
        )  # fmt: skip
    return out


def agrees(bounds: Bounds, tolerance: float) -> bool:
    """Return whether the kernels agree with the plain filters on the first points."""
    few = bounds.first(CHECKED)
    largest = pair_filters.group_maxima(few, 1, CHECKED // GROUP)[:, 0]
    found = group_maxima(few, 1, CHECKED // GROUP)[:, 0]
    if not torch.allclose(found, largest, rtol=tolerance):
        return False
    pairs = [f.pairs_above(few, 0.4 * largest, True) for f in (pair_filters, _THIS_MODULE)]
    if abs(len(pairs[0][0]) - len(pairs[1][0])) > 2 + len(pairs[0][0]) // 100:
        return False
    expected, found = (f.dots(few.vectors, *pairs[0]) for f in (pair_filters, _THIS_MODULE))
    return torch.allclose(found, expected, rtol=tolerance, atol=tolerance * float(expected.max()))
