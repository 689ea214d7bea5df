"""Filters over all pairs of points, tile by tile; the plain version of :mod:`dssc.gpu.fused`.

With products of rounded vectors v known to ``e_i + e_j``, the similarity of two points is at most

    (|<v_i, v_j>| + e_i + e_j) (s_i + s_j) ,    s the weights.
"""

from typing import NamedTuple

import torch

ROWS = 2048  # of a tile
GROUP = 128  # columns whose largest bound is kept together
CHUNK = 1 << 26  # numbers that are turned into float32 at once


class Bounds(NamedTuple):
    """What turns a product of rounded vectors into an upper bound on a similarity, in float32."""

    vectors: torch.Tensor
    errors: torch.Tensor
    weights: torch.Tensor

    def tile(self, rows: slice, columns: slice):
        """Return the bounds of some rows and columns."""
        left, right = self.vectors[rows].float(), self.vectors[columns]
        parts = right.split(max(1, CHUNK // right.shape[1]))
        tile = torch.cat([left @ part.float().T for part in parts], dim=1).abs_()
        tile += self.errors[rows, None] + self.errors[columns]
        return tile.mul_(self.weights[rows, None] + self.weights[columns])

    def at(self, products, rows, columns):
        """Return the bounds at places, from the products there."""
        sizes = products.abs() + (self.errors[rows] + self.errors[columns])
        return sizes * (self.weights[rows] + self.weights[columns])


def group_maxima(bounds: Bounds, n_groups: int, tiles_a_group: int) -> torch.Tensor:
    """Return the largest bound of every point in each group of columns.

    Groups are of ``GROUP * tiles_a_group`` columns, from the first one on. A point's similarity to
    itself does not count.
    """
    n, size = len(bounds.weights), GROUP * tiles_a_group
    n_columns = min(n, n_groups * size)
    out = torch.empty((n, n_groups), dtype=torch.float32, device=bounds.weights.device)
    for start in range(0, n, ROWS):
        rows = slice(start, min(n, start + ROWS))
        tile = bounds.tile(rows, slice(0, n_columns))
        own = torch.arange(start, max(start, min(rows.stop, n_columns)), device=tile.device)
        tile[own - start, own] = -torch.inf
        tile = torch.nn.functional.pad(tile, (0, n_groups * size - n_columns), value=-torch.inf)
        out[rows] = tile.view(len(tile), n_groups, size).amax(dim=2)
    return out


def pairs_above(bounds: Bounds, thresholds, joined: bool):
    """Return the pairs i < j whose bound is above a threshold.

    The threshold is the smaller one of the two points', or the sum of theirs when `joined`.
    """
    n = len(bounds.weights)
    found = []
    for start in range(0, n, ROWS):
        rows = slice(start, min(n, start + ROWS))
        tile = bounds.tile(rows, slice(start, n))
        own, others = thresholds[rows, None], thresholds[start:]
        limits = own + others if joined else torch.minimum(own, others)
        found.append(torch.nonzero(torch.triu(tile > limits, diagonal=1)) + start)
    return torch.cat(found).unbind(dim=1)


def dots(vectors, rows, columns):
    """Return the products of pairs of vectors, in float32, or float64 where they are."""
    dtype = torch.float64 if vectors.dtype == torch.float64 else torch.float32
    out = torch.empty(len(rows), dtype=dtype, device=rows.device)
    step = max(1, CHUNK // vectors.shape[1])
    for start in range(0, len(rows), step):
        at = slice(start, start + step)
        out[at] = (vectors[rows[at]].to(dtype) * vectors[columns[at]].to(dtype)).sum(dim=1)
    return out
