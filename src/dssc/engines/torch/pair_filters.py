"""Filters over all pairs of points, tile by tile; the plain version of :mod:`.pair_filters_triton`.

With products of rounded vectors v known to ``e_i + e_j``, the similarity of two points is at most

    (|<v_i, v_j> + o_i + o_j| + e_i + e_j) (s_i + s_j) ,    o the offsets, s the weights.

If signs count, a product below zero counts as zero.
"""

from typing import NamedTuple

import torch
from sklearn.utils import gen_batches
from torch import Tensor

# Rows of a tile.
ROWS = 2048
# Columns of which only the largest bound is kept.
GROUP = 128
# Numbers that are turned into float32 at once.
CHUNK = 1 << 26


class Bounds(NamedTuple):
    """What turns a product of rounded vectors into an upper bound on a similarity, in float32."""

    vectors: Tensor
    offsets: Tensor
    errors: Tensor
    weights: Tensor
    signed: bool

    def tile(self, rows: slice, columns: slice) -> Tensor:
        """Return the bounds of some rows and columns."""
        left, right = self.vectors[rows].float(), self.vectors[columns]
        parts = right.split(max(1, CHUNK // right.shape[1]))
        tile = torch.cat([left @ part.float().T for part in parts], dim=1)
        tile += self.offsets[rows, None] + self.offsets[columns]
        tile = self.sizes(tile)
        tile += self.errors[rows, None] + self.errors[columns]
        return tile.mul_(self.weights[rows, None] + self.weights[columns])

    def sizes(self, products: Tensor) -> Tensor:
        """Return what products count for."""
        return products.clamp(min=0.0) if self.signed else products.abs()

    def first(self, count: int) -> "Bounds":
        """Return the bounds of the first points."""
        return Bounds(
            self.vectors[:count],
            self.offsets[:count],
            self.errors[:count],
            self.weights[:count],
            self.signed,
        )

    def at(self, products: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
        """Return the bounds at places, from the products there."""
        sizes = self.sizes(products + (self.offsets[rows] + self.offsets[columns]))
        sizes += self.errors[rows] + self.errors[columns]
        return sizes * (self.weights[rows] + self.weights[columns])


def group_maxima(bounds: Bounds, n_groups: int, tiles_per_group: int) -> Tensor:
    """Return the largest bound of every point in each group of columns.

    A group has ``GROUP * tiles_per_group`` columns, starting with the first. The similarity of a
    point to itself does not count.
    """
    n, size = len(bounds.weights), GROUP * tiles_per_group
    n_columns = min(n, n_groups * size)
    out = torch.empty((n, n_groups), dtype=torch.float32, device=bounds.weights.device)
    for rows in gen_batches(n, ROWS):
        tile = bounds.tile(rows, slice(0, n_columns))
        end = max(rows.start, min(rows.stop, n_columns))
        own = torch.arange(rows.start, end, device=tile.device)
        tile[own - rows.start, own] = -torch.inf
        tile = torch.nn.functional.pad(tile, (0, n_groups * size - n_columns), value=-torch.inf)
        out[rows] = tile.view(len(tile), n_groups, size).amax(dim=2)
    return out


def pairs_above(bounds: Bounds, thresholds: Tensor, joined: bool) -> tuple[Tensor, Tensor]:
    """Return the pairs i < j whose bound is above a threshold.

    The threshold of a pair is the smaller one of its points, or their sum when `joined`.
    """
    n = len(bounds.weights)
    pairs = []
    for rows in gen_batches(n, ROWS):
        tile = bounds.tile(rows, slice(rows.start, n))
        own, others = thresholds[rows, None], thresholds[rows.start :]
        limits = own + others if joined else torch.minimum(own, others)
        pairs.append(torch.nonzero(torch.triu(tile > limits, diagonal=1)) + rows.start)
    rows_above, columns_above = torch.cat(pairs).unbind(dim=1)
    return rows_above, columns_above


def dots(vectors: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """Return the products of pairs of vectors, in float64 if the vectors are, else in float32."""
    dtype = torch.float64 if vectors.dtype == torch.float64 else torch.float32
    out = torch.empty(len(rows), dtype=dtype, device=rows.device)
    step = max(1, CHUNK // vectors.shape[1])
    for start in range(0, len(rows), step):
        at = slice(start, start + step)
        out[at] = (vectors[rows[at]].to(dtype) * vectors[columns[at]].to(dtype)).sum(dim=1)
    return out
