"""The search of all pairs for every point's most similar others, tile by tile."""

from dataclasses import dataclass
from itertools import repeat
from threading import local
from types import ModuleType

import numpy as np

from dssc._progress import Progress
from dssc._threads import block_threads

TILE = 512  # points a side: a tile of float32 fits the cache of one core
ROOM = 2  # candidates held at once, in units of those kept at the end


@dataclass
class Lists:
    """The largest similarities of every point in falling order, by upper bounds in float32.

    Whatever is not in the list of point i is at most ``thresholds[i]``.
    """

    values: np.ndarray
    places: np.ndarray
    counts: np.ndarray
    thresholds: np.ndarray

    @classmethod
    def empty(cls, n_points: int, n_kept: int) -> "Lists":
        """Return lists without entries."""
        room = min(ROOM * n_kept, max(n_kept, n_points - 1))
        return cls(
            np.full((n_points, room), np.nan, dtype=np.float32),  # never to be read before written
            np.full((n_points, room), -1, dtype=np.int32),
            np.zeros(n_points, dtype=np.int64),
            np.full(n_points, -np.inf, dtype=np.float32),
        )

    def arrays(self):
        """Return the four arrays in the order the kernels take them."""
        return self.values, self.places, self.counts, self.thresholds

    def first(self, count: int):
        """Return the arrays of the first `count` entries of sorted lists, the threshold theirs."""
        values, places = self.values[:, :count], self.places[:, :count]
        counts = np.minimum(self.counts, count)
        limits = np.where(counts < count, self.thresholds, values[:, -1])
        return values, places, counts, limits


@dataclass(frozen=True)
class Weights:
    """What turns the product h of two points into a bound on the similarity of i to j.

    It is ``(|h_ij| + margins_i norms_j) (owner_i + partner_j)``, the margin being what rounding may
    have taken away; all in float32, rounded upwards.
    """

    owner: np.ndarray
    partner: np.ndarray
    margins: np.ndarray
    norms: np.ndarray

    @classmethod
    def rounded_up(cls, owner, partner, norms, rounding) -> "Weights":
        """Return the weights from numbers in float64 and the relative error of a product."""
        up = 1.0 + 2.0**-20
        arrays = (owner * up, partner * up, norms * (rounding * up), norms * up)
        return cls(*(array.astype(np.float32) for array in arrays))

    def arrays(self):
        """Return the four arrays in the order the kernels take them."""
        return self.owner, self.partner, self.margins, self.norms


def largest_similarities(
    vectors: np.ndarray,
    weights: list[Weights],
    n_kept: int,
    k: ModuleType,
    progress: Progress | None = None,
) -> list[Lists]:
    """Return, for each kind of weights, about `n_kept` of the largest similarities of every point.

    Every product is computed once and offered to both its points. Blocks of points meet as in a
    tournament: in a round each has one opponent, so that threads never touch the same list, and the
    result does not depend on their number. The vectors must come in random order: what a point has
    seen so far then tells which products are worth keeping.
    """
    n, d = vectors.shape
    found = [Lists.empty(n, n_kept) for _ in weights]
    n_blocks = -(-n // TILE)
    scratch = local()

    def play(pair, n_likely):
        i, j = sorted(pair)
        if j >= n_blocks:  # a bye
            return
        if not hasattr(scratch, "tile"):
            scratch.tile = np.empty(TILE * TILE, dtype=np.float32)
        left, right = (vectors[b * TILE : (b + 1) * TILE] for b in (i, j))
        tile = scratch.tile[: len(left) * len(right)].reshape(len(left), len(right))
        np.matmul(left, right.T, out=tile)
        for weight, lists in zip(weights, found, strict=True):
            room = min(ROOM * n_likely, lists.values.shape[1])
            corner = i * TILE, j * TILE
            k.keep_largest(tile, *corner, *weight.arrays(), n_likely, room, *lists.arrays())

    with (
        (progress or Progress()).stage("scan", n * (n + TILE) * d / 1e9, "Gflop") as advance,
        block_threads(k.n_threads()) as in_threads,
    ):
        for number, pairs in enumerate(rounds(n_blocks), start=1):
            n_likely = _likely_so_far(n_kept, number * TILE / n)
            for _ in in_threads(play, pairs, repeat(n_likely)):
                advance(2e-9 * d * TILE * TILE)
            if number & (number - 1) == 0:  # after rounds 1, 2, 4, ...
                _shorten(found, n_likely, k)
    _shorten(found, n_kept, k)
    for lists in found:
        k.sort_lists(lists.values, lists.places, lists.counts)
    return found


def _likely_so_far(n_kept, seen):
    """Return how many of a point's `n_kept` best it has met with the share `seen` of all points.

    If they lie at random, hardly ever more. Where the guess is wrong a list ends up shorter; its
    threshold tells the truth all the same.
    """
    expected = seen * n_kept
    return min(n_kept, int(expected + 2.5 * np.sqrt(expected)) + 3)


def _shorten(found, n_kept, k):
    for lists in found:
        k.shorten_lists(n_kept, *lists.arrays())


def rounds(n_blocks: int):
    """Yield the rounds of a tournament in which every block meets itself, then every other once.

    The circle method: the last of an even number stays, the others move by one. With an odd number
    the last is a bye, numbered `n_blocks`.
    """
    yield [(i, i) for i in range(n_blocks)]
    n = n_blocks + n_blocks % 2
    for turn in range(n - 1):
        yield [(turn, n - 1)] + [
            ((turn + i) % (n - 1), (turn - i) % (n - 1)) for i in range(1, n // 2)
        ]
