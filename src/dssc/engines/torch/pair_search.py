"""The search for all pairs of points that are similar enough to matter, on a device."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from sklearn.utils import gen_batches
from torch import Tensor

from dssc._progress import Progress
from dssc.engines.torch.factor import TorchFactor
from dssc.engines.torch.pair_filters import GROUP, ROWS, Pairs, membership
from dssc.stochastic.factored_similarity import SINGLE_MARGIN

# A threshold is about the RANK-th of the largest bounds of GROUPS groups of columns.
RANK, GROUPS = 8, 128
# Up to this many points every threshold is computed exactly.
EXACT_THRESHOLDS = 1 << 14
# Beyond this share of the points, filtering all pairs costs less than filtering theirs.
MOST_REREAD = 0.5
# Bounds that are held at once.
TILE_ENTRIES = 1 << 28


class Candidates(NamedTuple):
    """All pairs whose bound is above the sum of the floors of their points, and perhaps others."""

    pairs: Pairs
    floors: Tensor

    def above(self, floors: Tensor) -> Pairs:
        """Return the pairs above other floors, none of which is lower."""
        return self.pairs.at(torch.nonzero(self.pairs.above(_limits(floors))).view(-1))


class PairSearch:
    """Filters over the pairs of a factor."""

    def __init__(self, factor: TorchFactor):
        self.factor = factor
        self.n_points = len(factor.scales)

    def rows(self, rows: slice) -> Tensor:
        """Return some rows of bounds, in the factor's order, with zeros on the diagonal."""
        tile = self.factor.bounds.tile(rows, slice(0, self.n_points))
        own = torch.arange(rows.start, rows.stop, device=tile.device)
        tile[own - rows.start, own] = 0.0
        return tile

    def sample(self, n_rows: int) -> Tensor:
        """Return up to so many rows of bounds; the first ones, since the order is random."""
        n = self.n_points
        return self.rows(slice(0, min(n, n_rows, max(1, TILE_ENTRIES // n))))

    def thresholds(self, few: int, many: int, progress: Progress) -> tuple[Tensor, Tensor]:
        """Return for each point about its `few`-th and its `many`-th largest bound."""
        n = self.n_points
        with progress.stage("scan", n, "points") as advance:
            if n <= EXACT_THRESHOLDS:
                parts = (torch.topk(self.rows(rows), many, dim=1) for rows in gen_batches(n, ROWS))
                both = torch.cat([part.values[:, [few - 1, many - 1]] for part in parts])
                return both[:, 0].contiguous(), both[:, 1].contiguous()
            n_columns = min(n, max(GROUPS * GROUP, n * RANK // many))
            tiles_per_group = -(-n_columns // (GROUPS * GROUP))
            n_groups = -(-n_columns // (tiles_per_group * GROUP))
            n_columns = min(n, n_groups * tiles_per_group * GROUP)
            coarse, filters = self.factor.coarse, self.factor.filters
            maxima = filters.group_maxima(coarse, n_groups, tiles_per_group, advance)
            ranks = [max(1, min(n_groups, round(count * n_columns / n))) for count in (few, many)]
            largest = torch.topk(maxima, ranks[1], dim=1).values
            return largest[:, ranks[0] - 1].contiguous(), largest[:, -1].contiguous()

    def above_either(self, thresholds: Tensor, progress: Progress) -> Candidates:
        """Return the pairs above the threshold of one of their points, and floors they imply."""
        filters = self.factor.filters
        pairs = self._all_pairs(filters.pairs_above_either, thresholds, progress)
        return Candidates(pairs, thresholds.double() * ((1.0 + SINGLE_MARGIN) / 2))

    def above(self, floors: Tensor, progress: Progress) -> Candidates:
        """Return the candidates for some floors."""
        pairs = self._all_pairs(self.factor.filters.pairs_above, _limits(floors), progress)
        return Candidates(pairs, floors)

    def _all_pairs(
        self, pairs_above: Callable[..., Pairs], limits: Tensor, progress: Progress
    ) -> Pairs:
        n, factor = self.n_points, self.factor
        with progress.stage("scan", n * (n - 1) / 2, "pairs") as advance:
            return _filtered(lambda: pairs_above(factor.bounds, factor.coarse, limits, advance))

    def lowered(
        self, known: Candidates, reread: Tensor, floors: Tensor, progress: Progress
    ) -> Candidates:
        """Return the candidates with lower floors of the points to be read again."""
        n, factor = self.n_points, self.factor
        floors = known.floors.clone().index_copy_(0, reread, floors[reread])
        if len(reread) > MOST_REREAD * n:
            return self.above(floors, progress)
        is_reread = membership(reread, n)
        bounds = factor.bounds, factor.coarse, _limits(floors)
        with progress.stage("scan", len(reread) * n, "pairs") as advance:
            new = _filtered(lambda: factor.filters.pairs_of(reread, *bounds, advance))
        others = ~(is_reread[known.pairs.rows] | is_reread[known.pairs.columns])
        pairs = Pairs.joined([known.pairs.at(torch.nonzero(others).view(-1)), new])
        return Candidates(pairs, floors)


def _limits(floors: Tensor) -> Tensor:
    """Return limits for comparisons in float32 that no pair above its floors fails."""
    return (floors - SINGLE_MARGIN * floors.abs()).float()


def _filtered(run_filter: Callable[[], Pairs]) -> Pairs:
    try:
        return run_filter()
    except torch.OutOfMemoryError as error:
        raise MemoryError(
            f"more pairs are possible than the device has memory for: {error}. Lower eta2 or "
            "n_neighbors, or use device='cpu'"
        ) from None
