"""The search for the entries of ``|C|`` that are large enough to matter, on a device.

Rows and columns differ, so there are twice as many pairs as for symmetric similarities. They are
filtered in torch, a tile at a time.
"""

from collections.abc import Iterator

import torch
from sklearn.utils import gen_batches
from torch import Tensor

from dssc.engines.torch.coarse_bounds import UP
from dssc.engines.torch.graph import TorchGraph
from dssc.engines.torch.pair_search import PairSearch
from dssc.stochastic.factored_similarity import SINGLE_MARGIN

# Bounds that are held at once.
TILE_ENTRIES = 1 << 27
# A rough threshold is about the RANK-th largest bound in a sample of the other side's points.
RANK = 8


class DirectedSearch(PairSearch):
    """Filters over the rows and columns of ``|C|``, in the factor's order."""

    def rows(self, rows: slice) -> Tensor:
        """Return some rows of bounds, with zeros on the diagonal."""
        return self.tile(rows, slice(0, self.n_points))

    def tile(self, rows: slice, columns: slice) -> Tensor:
        """Return bounds on ``|C|``: those of the symmetric similarities have the mean of scales."""
        scales = self.factor.scales.float()
        own = scales[rows, None]
        tile = self.factor.bounds.tile(rows, columns)
        tile *= UP * 2.0 * own / (own + scales[columns])
        first = max(rows.start, columns.start)
        diagonal = torch.arange(first, max(first, min(rows.stop, columns.stop)))
        tile[diagonal - rows.start, diagonal - columns.start] = 0.0
        return tile

    def pairs_above(self, potentials: Tensor) -> tuple[Tensor, Tensor]:
        """Return the rows and columns of entries whose bound is above the sum of potentials."""
        # No sum of two is above the exact one after rounding to float32.
        lowered = (potentials - SINGLE_MARGIN * potentials.abs()).float().view(2, -1)
        found = []
        for block, tile in self._tiles():
            i, j = torch.nonzero(tile > lowered[0, block, None] + lowered[1]).unbind(dim=1)
            found.append((i + block.start, j))
        rows, columns = (torch.cat(part) for part in zip(*found, strict=True))
        off = rows != columns
        return rows[off], columns[off]

    def rough_graph(self, wanted: int) -> TorchGraph:
        """Return the pairs above the rough threshold of their row or column, with their bounds."""
        n = self.n_points
        of_rows, of_columns = (self._side_thresholds(wanted, side) for side in (0, 1))
        parts = []
        for block, tile in self._tiles():
            above = torch.nonzero(tile > torch.minimum(of_rows[block, None], of_columns))
            i, j = above.unbind(dim=1)
            parts.append((i + block.start, j, tile[i, j].double()))
        rows, columns, values = (torch.cat(part) for part in zip(*parts, strict=True))
        off = rows != columns
        return TorchGraph.bipartite(rows[off], columns[off], values[off], n)

    def _tiles(self) -> Iterator[tuple[slice, Tensor]]:
        """Yield slices of rows with their bounds."""
        for rows in gen_batches(self.n_points, max(1, TILE_ENTRIES // self.n_points)):
            yield rows, self.rows(rows)

    def _side_thresholds(self, wanted: int, side: int) -> Tensor:
        """Return for each row, or for each column, about its `wanted`-th largest bound."""
        n = self.n_points
        n_others = min(n, -(-n * RANK // wanted))
        rank = max(1, round(wanted * n_others / n))
        others = slice(0, n_others)  # the order is random
        thresholds = []
        for own in gen_batches(n, max(1, TILE_ENTRIES // n_others)):
            tile = self.tile(others, own) if side else self.tile(own, others)
            thresholds.append(torch.topk(tile, rank, dim=1 - side).values.select(1 - side, -1))
        return torch.cat(thresholds)
