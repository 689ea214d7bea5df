"""Filters over all pairs of points, tile by tile; the plain version of :mod:`dssc.gpu.fused`.

With the cosine c_ij of two vectors known to ``e_i + e_j``, the similarity of two points is at most

    (|c_ij| + e_i + e_j) (p_i q_j + q_i p_j) ,    p the norms, q = p s / 2 .
"""

from typing import NamedTuple

import torch

ROWS = 2048  # of a tile
GROUP = 128  # columns whose largest bound is kept together


class Bounds(NamedTuple):
    """What turns a product of unit vectors into an upper bound on a similarity, in float32."""

    units: torch.Tensor
    errors: torch.Tensor
    p: torch.Tensor
    q: torch.Tensor

    def tile(self, rows: slice, columns: slice):
        """Return the bounds of some rows and columns."""
        cosines = (self.units[rows].float() @ self.units[columns].float().T).abs()
        cosines += self.errors[rows, None] + self.errors[columns]
        weights = torch.outer(self.p[rows], self.q[columns])
        weights += torch.outer(self.q[rows], self.p[columns])
        return cosines * weights


def group_maxima(bounds: Bounds, n_groups: int, tiles_a_group: int) -> torch.Tensor:
    """Return the largest bound of every point in each group of columns.

    Groups are of ``GROUP * tiles_a_group`` columns, from the first one on. A point's similarity to
    itself does not count.
    """
    n, size = len(bounds.p), GROUP * tiles_a_group
    n_columns = min(n, n_groups * size)
    out = torch.empty((n, n_groups), dtype=torch.float32, device=bounds.p.device)
    for start in range(0, n, ROWS):
        rows = slice(start, min(n, start + ROWS))
        tile = bounds.tile(rows, slice(0, n_columns))
        own = torch.arange(start, min(rows.stop, n_columns), device=tile.device)
        tile[own - start, own] = -torch.inf
        tile = torch.nn.functional.pad(tile, (0, n_groups * size - n_columns), value=-torch.inf)
        out[rows] = tile.view(len(tile), n_groups, size).amax(dim=2)
    return out


def pairs_above(bounds: Bounds, thresholds, joined: bool, _capacity: int):
    """Return the pairs i < j whose bound is above a threshold, and their bounds.

    The threshold is the smaller one of the two points', or the sum of theirs when `joined`. The
    fused version wants to know how many pairs to make room for.
    """
    n = len(bounds.p)
    found = []
    for start in range(0, n, ROWS):
        rows = slice(start, min(n, start + ROWS))
        tile = bounds.tile(rows, slice(start, n))
        own, others = thresholds[rows, None], thresholds[start:]
        limits = own + others if joined else torch.minimum(own, others)
        i, j = torch.nonzero(torch.triu(tile > limits, diagonal=1), as_tuple=True)
        found.append((i + start, j + start, tile[i, j]))
    return tuple(torch.cat(parts) for parts in zip(*found, strict=True))
