"""Filters over all pairs of points, fused with their products on the tensor cores.

The kernels find what :mod:`.pair_filters` finds without ever writing a product to memory. Vectors
of eight bits are multiplied, a tile of products stays in registers, and one bit per pair says
whether it may be above its limits. The bounds of those few are then computed in half precision.
The operands of a tile come through the tensor memory accelerator; plain loads were seen to be
compiled wrongly (all sums zero) with more than two stages.
"""

import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor
from triton.tools.tensor_descriptor import TensorDescriptor

from dssc._progress import Advance
from dssc.engines.torch import pair_filters
from dssc.engines.torch.coarse_bounds import either_limits, separated_limits
from dssc.engines.torch.pair_filters import GROUP, Bounds, Pairs, membership, numbered, once
from dssc.engines.torch.pair_kernels_triton import (
    count_kernel,
    dots_kernel,
    maxima_kernel,
    places_kernel,
    words_kernel,
)

# Rows and columns of a tile of the filter, its warps, and the parts that are loaded ahead.
TILE_ROWS, TILE_COLUMNS, WARPS, STAGES = 128, 128, 4, 3
# Bytes of a row that are multiplied at once.
DEPTH = 128
# Bits of a word.
WORD = 32
# Rows and columns that one launch filters.
SIDE = 1 << 16
# Rows of tiles that are processed together, their operands in the cache.
SWATH = 16
# Parts of rows with a bit that are looked at together, which limits memory, and by one program.
FLAGGED, FLAGS = 1 << 22, 256
# How pairs are compared: a product with the sum of limits, or also if this sum is below zero, or
# also far below zero; a size with the smaller limit, where signs count or do not.
ABOVE, ABOVE_OR_NEGATIVE, ABOVE_OR_BELOW, SIGNED_EITHER, EITHER = range(5)
# Points on which the kernels are compared with plain ones.
CHECKED = 1024
# Pairs, and numbers of each, that one program multiplies.
PAIRS, NUMBERS = 16, 64
_THIS_MODULE = sys.modules[__name__]


def _tiled(vectors: Tensor, rows: int) -> Any:
    return TensorDescriptor.from_tensor(vectors, [rows, DEPTH])


def group_maxima(bounds: Bounds, n_groups: int, tiles_per_group: int, advance: Advance) -> Tensor:
    """Return the largest bound of every point in each group of columns, without the errors."""
    n, width = bounds.vectors.shape
    out = torch.empty((n, n_groups), dtype=torch.float32, device=bounds.weights.device)
    vectors = _tiled(bounds.vectors, GROUP)
    for first in range(0, n, SIDE):
        n_rows = min(SIDE, n - first)
        maxima_kernel[(triton.cdiv(n_rows, GROUP), n_groups)](
            vectors, bounds.units, bounds.offsets, bounds.weights,
            n, n_groups, tiles_per_group, first, out,
            SIGNED=bounds.signed, WIDTH=width, TILE=GROUP, DEPTH=DEPTH, num_warps=4, num_stages=3,
        )  # fmt: skip
        torch.cuda.synchronize(out.device)
        advance(n_rows)
    return out


class _Points(NamedTuple):
    """Rounded vectors, and what their products are compared with, by one of the tests above."""

    vectors: Tensor
    units: Tensor
    limits: Tensor
    others: Tensor
    test: int

    @classmethod
    def above(cls, coarse: Bounds, limits: Tensor) -> "_Points":
        """Return points whose products are compared with the sum of two limits."""
        above, others = separated_limits(coarse, limits)
        test = ABOVE
        if not coarse.signed:
            test = ABOVE_OR_BELOW
        elif bool(others.min() < 0):
            test = ABOVE_OR_NEGATIVE
        return cls(coarse.vectors, coarse.units, above, others, test)

    @classmethod
    def above_either(cls, coarse: Bounds, thresholds: Tensor) -> "_Points":
        """Return points whose products are compared with the smaller one of two limits."""
        limits = either_limits(coarse, thresholds)
        test = SIGNED_EITHER if coarse.signed else EITHER
        return cls(coarse.vectors, coarse.units, limits, coarse.offsets, test)

    def at(self, points: Tensor) -> "_Points":
        """Return some of the points."""
        return _Points(
            self.vectors[points],
            self.units[points],
            self.limits[points],
            self.others[points],
            self.test,
        )


class _Block(NamedTuple):
    """Numbers of points, those of others that they are compared with, and whether these agree."""

    points: Tensor
    others: Tensor
    is_triangle: bool


def pairs_above_either(
    bounds: Bounds, coarse: Bounds, thresholds: Tensor, advance: Advance
) -> Pairs:
    """Return pairs whose bound is above the threshold of one of their points."""
    above = lambda pairs: pairs.above_either(thresholds)  # noqa: E731
    return _pairs_beyond(_Points.above_either(coarse, thresholds), bounds, above, advance)


def pairs_above(bounds: Bounds, coarse: Bounds, limits: Tensor, advance: Advance) -> Pairs:
    """Return the pairs whose bound is above the sum of the limits of their points."""
    above = lambda pairs: pairs.above(limits)  # noqa: E731
    return _pairs_beyond(_Points.above(coarse, limits), bounds, above, advance)


def _pairs_beyond(
    points: _Points, bounds: Bounds, above: Callable[[Pairs], Tensor], advance: Advance
) -> Pairs:
    sides = torch.arange(len(points.limits), device=points.limits.device).split(SIDE)
    blocks = [
        _Block(side, other, i == j)
        for i, side in enumerate(sides)
        for j, other in enumerate(sides[i:], start=i)
    ]
    none = points.limits[:0]
    parts = [numbered(none, none, none)]
    for rows, columns in _hits(points, blocks, advance):
        parts.append(_kept(bounds, above, numbered(rows, columns, none)))
    return Pairs.joined(parts)


def pairs_of(
    members: Tensor, bounds: Bounds, coarse: Bounds, limits: Tensor, advance: Advance
) -> Pairs:
    """Return those of the pairs above their limits that have one of some rising points."""
    sides = torch.arange(len(limits), device=limits.device).split(SIDE)
    blocks = [_Block(some, side, False) for some in members.split(SIDE) for side in sides]
    is_member = membership(members, len(limits))
    parts = [numbered(limits[:0], limits[:0], limits[:0])]
    above = lambda pairs: pairs.above(limits)  # noqa: E731
    for rows, columns in _hits(_Points.above(coarse, limits), blocks, advance):
        pairs = once(rows, columns, limits.new_empty(len(rows)), is_member)
        parts.append(_kept(bounds, above, pairs))
    return Pairs.joined(parts)


def _kept(bounds: Bounds, above: Callable[[Pairs], Tensor], pairs: Pairs) -> Pairs:
    """Return those pairs i < j that are above with their bounds in half precision."""
    rows, columns, _ = pairs
    values = bounds.at(dots(bounds.vectors, rows, columns), rows, columns)
    pairs = Pairs(rows, columns, values)
    return pairs.at(torch.nonzero(above(pairs) & (rows < columns)).view(-1))


def _hits(
    points: _Points, blocks: list[_Block], advance: Advance
) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield pairs that may be above their limits.

    The next block is started before the places of one are read.
    """
    words = (_words(points.at(block.points), points.at(block.others), block) for block in blocks)
    ahead = next(words, None)
    for block in blocks:
        now, ahead = ahead, next(words, None)
        assert now is not None
        n_rows, n_columns = len(block.points), len(block.others)
        for row, column in _places(*now):
            if n_rows % TILE_ROWS or n_columns % TILE_COLUMNS:  # limits below zero admit the rest
                inside = torch.nonzero((row < n_rows) & (column < n_columns)).view(-1)
                row, column = row[inside], column[inside]
            yield block.points[row], block.others[column]
        n_pairs = n_rows * n_columns
        advance(n_pairs / 2 if block.is_triangle else n_pairs)


def _places(words: Tensor, flags: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield rows and columns of the bits that are set, a limited number at a time."""
    sizes = words.shape[1], flags.shape[1]
    shape = {"PER_FLAG": TILE_COLUMNS // WORD, "BLOCK": FLAGS, "WORD": WORD}
    every = torch.nonzero(flags.view(-1)).view(-1)
    for flagged in every.split(FLAGGED) if len(every) else ():
        grid = (triton.cdiv(len(flagged), FLAGS),)
        counts = torch.empty(len(flagged), dtype=torch.int32, device=words.device)
        count_kernel[grid](words, flagged, len(flagged), *sizes, counts, **shape)
        ends = torch.cumsum(counts, 0)
        places = torch.empty((2, int(ends[-1])), dtype=torch.int32, device=words.device)
        places_kernel[grid](
            words, flagged, ends - counts, len(flagged), *sizes, places[0], places[1], **shape
        )
        yield places[0], places[1]


def _words(left: _Points, right: _Points, block: _Block) -> tuple[Tensor, Tensor]:
    """Return a bit for each pair, WORD of them in a number, and which tiles' rows have any."""
    n_rows, n_columns = len(left.limits), len(right.limits)
    down, across = triton.cdiv(n_rows, TILE_ROWS), triton.cdiv(n_columns, TILE_COLUMNS)
    n_words = across * (TILE_COLUMNS // WORD)
    device = left.limits.device
    words = torch.empty((down * TILE_ROWS, n_words), dtype=torch.int32, device=device)
    flags = torch.zeros((down * TILE_ROWS, across), dtype=torch.int8, device=device)
    words_kernel[(down * across,)](
        _tiled(left.vectors, TILE_ROWS), _tiled(right.vectors, TILE_COLUMNS),
        left.units, right.units, left.limits, right.limits, left.others, right.others,
        n_rows, n_columns, TILE_COLUMNS if block.is_triangle else 2 * SIDE,
        words, flags, n_words, across,
        TEST=left.test, WIDTH=left.vectors.shape[1],
        ROWS=TILE_ROWS, COLUMNS=TILE_COLUMNS, DEPTH=DEPTH, SWATH=SWATH, WORD=WORD,
        num_warps=WARPS, num_stages=STAGES,
    )  # fmt: skip
    return words, flags


def dots(vectors: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """Return the products of pairs of vectors, in float64 if the vectors are, else in float32."""
    exact = vectors.dtype == torch.float64
    out = torch.empty(
        len(rows), dtype=torch.float64 if exact else torch.float32, device=rows.device
    )
    if len(rows):
        dots_kernel[(triton.cdiv(len(rows), PAIRS),)](
            vectors, rows.contiguous(), columns.contiguous(), len(rows), out,
            WIDTH=vectors.shape[1], PAIRS=PAIRS, DEPTH=NUMBERS,
            DTYPE=tl.float64 if exact else tl.float32,
        )  # fmt: skip
    return out


def _ignore(amount: float) -> None:
    """Take what is done without showing it."""


def agrees(bounds: Bounds, coarse: Bounds, tolerance: float) -> bool:
    """Return whether the kernels agree with the plain filters on the first points."""
    some = slice(0, CHECKED)
    bounds, coarse = bounds.of(some), coarse.of(some)
    free = coarse._replace(errors=torch.zeros_like(coarse.errors))
    group = 1, CHECKED // GROUP, _ignore
    largest = pair_filters.group_maxima(free, *group)[:, 0]
    if not torch.allclose(group_maxima(free, *group)[:, 0], largest, rtol=tolerance):
        return False
    members = torch.arange(1, CHECKED, 3, device=largest.device)
    limits = 0.4 * largest
    cases = ("pairs_above_either", ()), ("pairs_above", ()), ("pairs_of", (members,))
    for name, first in cases:
        expected, pairs = (
            getattr(module, name)(*first, bounds, coarse, limits, _ignore)
            for module in (pair_filters, _THIS_MODULE)
        )
        if abs(len(pairs.rows) - len(expected.rows)) > 2 + len(expected.rows) // 100:
            return False
    products, others = (
        module.dots(bounds.vectors, expected.rows, expected.columns)
        for module in (pair_filters, _THIS_MODULE)
    )
    return torch.allclose(others, products, rtol=tolerance, atol=tolerance * float(products.max()))
