"""Filters over all pairs of points, tile by tile; the plain version of :mod:`.pair_filters_triton`.

With products of rounded vectors v, in units u, known to ``e_i + e_j``, the similarity of two points
is at most

    (|u_i u_j <v_i, v_j> + o_i + o_j| + e_i + e_j) (w_i + w_j) ,    o the offsets, w the weights.

If signs count, a product below zero counts as zero.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from sklearn.utils import gen_batches
from torch import Tensor

from dssc._progress import Advance

# Rows of a tile.
ROWS = 2048
# Columns of which only the largest bound is kept.
GROUP = 128
# Numbers that are turned into float32 at once.
CHUNK = 1 << 26


class Bounds(NamedTuple):
    """What turns a product of rounded vectors into an upper bound on a similarity, in float32."""

    vectors: Tensor
    units: Tensor
    offsets: Tensor
    errors: Tensor
    weights: Tensor
    signed: bool

    def tile(self, rows: slice | Tensor, columns: slice) -> Tensor:
        """Return the bounds of some rows and columns."""
        own, others = self.of(rows), self.of(columns)
        left = own.vectors.float()
        parts = others.vectors.split(max(1, CHUNK // left.shape[1]))
        tile = torch.cat([left @ part.float().T for part in parts], dim=1)
        tile *= own.units[:, None] * others.units
        tile += own.offsets[:, None] + others.offsets
        tile = self.sizes(tile)
        tile += own.errors[:, None] + others.errors
        return tile.mul_(own.weights[:, None] + others.weights)

    def sizes(self, products: Tensor) -> Tensor:
        """Return what products count for."""
        return products.clamp(min=0.0) if self.signed else products.abs()

    def of(self, points: slice | Tensor) -> "Bounds":
        """Return the bounds of some points."""
        return Bounds(
            self.vectors[points],
            self.units[points],
            self.offsets[points],
            self.errors[points],
            self.weights[points],
            self.signed,
        )

    def at(self, products: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
        """Return the bounds at places, from the products there."""
        products = products * (self.units[rows] * self.units[columns])
        sizes = self.sizes(products + (self.offsets[rows] + self.offsets[columns]))
        sizes += self.errors[rows] + self.errors[columns]
        return sizes * (self.weights[rows] + self.weights[columns])

    def errors_at(self, rows: Tensor, columns: Tensor) -> Tensor:
        """Return what the errors of the products add to the bounds at places."""
        errors = self.errors[rows] + self.errors[columns]
        return errors * (self.weights[rows] + self.weights[columns])


class Pairs(NamedTuple):
    """Pairs of points i < j, and a bound on the similarity of each."""

    rows: Tensor
    columns: Tensor
    bounds: Tensor

    @classmethod
    def joined(cls, parts: list["Pairs"]) -> "Pairs":
        """Return the pairs of several parts."""
        return cls(*(torch.cat(arrays) for arrays in zip(*parts, strict=True)))

    def at(self, places: Tensor) -> "Pairs":
        """Return some of the pairs."""
        return Pairs(*(part[places] for part in self))

    def above_either(self, thresholds: Tensor) -> Tensor:
        """Return which bounds are above the threshold of one of their points."""
        return self.bounds > torch.minimum(thresholds[self.rows], thresholds[self.columns])

    def above(self, limits: Tensor) -> Tensor:
        """Return which bounds are above the sum of the limits of their points."""
        return self.bounds > limits[self.rows] + limits[self.columns]


def group_maxima(bounds: Bounds, n_groups: int, tiles_per_group: int, advance: Advance) -> Tensor:
    """Return the largest bound of every point in each group of columns.

    A group has ``GROUP * tiles_per_group`` columns, starting with the first. The similarity of a
    point to itself does not count. `advance` is told how many points are done.
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
        advance(len(tile))
    return out


def pairs_above_either(
    bounds: Bounds, coarse: Bounds, thresholds: Tensor, advance: Advance
) -> Pairs:
    """Return pairs whose bound is above the threshold of one of their points.

    No pair whose bound is above the mean of its thresholds is left out. `coarse` has bounds that
    are quicker to compute, and never below the others. `advance` is told how many pairs are done.
    """
    return _pairs_beyond(torch.minimum, bounds, thresholds, advance)


def pairs_above(bounds: Bounds, coarse: Bounds, limits: Tensor, advance: Advance) -> Pairs:
    """Return the pairs whose bound is above the sum of the limits of their points."""
    return _pairs_beyond(torch.add, bounds, limits, advance)


def _pairs_beyond(
    combined: Callable[[Tensor, Tensor], Tensor], bounds: Bounds, limits: Tensor, advance: Advance
) -> Pairs:
    n = len(limits)
    parts = []
    for rows in gen_batches(n, ROWS):
        tile = bounds.tile(rows, slice(rows.start, n))
        least = combined(limits[rows, None], limits[rows.start :])
        i, j = torch.nonzero(torch.triu(tile > least, diagonal=1)).unbind(dim=1)
        parts.append(numbered(i + rows.start, j + rows.start, tile[i, j]))
        advance(tile.numel() - len(tile) ** 2 / 2)
    return Pairs.joined(parts)


def pairs_of(
    members: Tensor, bounds: Bounds, coarse: Bounds, limits: Tensor, advance: Advance
) -> Pairs:
    """Return those of the pairs above their limits that have one of some rising points."""
    n = len(limits)
    is_member = membership(members, n)
    parts = [numbered(members[:0], members[:0], limits[:0])]
    for rows in gen_batches(len(members), ROWS):
        tile = bounds.tile(members[rows], slice(0, n))
        i, j = torch.nonzero(tile > limits[members[rows], None] + limits).unbind(dim=1)
        parts.append(once(members[rows][i], j, tile[i, j], is_member))
        advance(tile.numel())
    return Pairs.joined(parts)


def membership(members: Tensor, n: int) -> Tensor:
    """Return for each of n points whether it is one of some."""
    is_member = torch.zeros(n, dtype=torch.bool, device=members.device)
    is_member[members] = True
    return is_member


def numbered(rows: Tensor, columns: Tensor, bounds: Tensor) -> Pairs:
    """Return pairs with short numbers."""
    return Pairs(rows.int(), columns.int(), bounds)


def once(members: Tensor, others: Tensor, bounds: Tensor, is_member: Tensor) -> Pairs:
    """Return pairs with the smaller number first, those of two members once."""
    kept = torch.nonzero((members < others) | ~is_member[others]).view(-1)
    members, others = members[kept], others[kept]
    return numbered(torch.minimum(members, others), torch.maximum(members, others), bounds[kept])


def dots(vectors: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """Return the products of pairs of vectors, in float64 if the vectors are, else in float32."""
    dtype = torch.float64 if vectors.dtype == torch.float64 else torch.float32
    out = torch.empty(len(rows), dtype=dtype, device=rows.device)
    step = max(1, CHUNK // vectors.shape[1])
    for start in range(0, len(rows), step):
        at = slice(start, start + step)
        out[at] = (vectors[rows[at]].to(dtype) * vectors[columns[at]].to(dtype)).sum(dim=1)
    return out
