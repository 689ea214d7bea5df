"""The search of all pairs for every point's most similar others, tile by tile."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition, local
from typing import NamedTuple

import numpy as np

from dssc import kernels
from dssc._progress import Progress
from dssc._threads import block_threads, share_rows
from dssc._typing import Array

# Points per side of a tile: a tile of float32 fits the cache of one core.
TILE = 512
# Candidates that a list holds before it is cut, in units of those kept at the end.
LIST_CAPACITY = 2
# Bits of a key that hold the place of an entry; the bits of its value are above them.
LOW_BITS = np.uint64(32)


class Lists(NamedTuple):
    """The largest similarities of every point in falling order, by upper bounds in float32.

    A similarity that is not in the list of point i is at most ``thresholds[i]``. The arrays are in
    the order in which the kernels take them.
    """

    values: Array
    places: Array
    counts: Array
    thresholds: Array

    @classmethod
    def empty(cls, n_points: int, n_kept: int) -> "Lists":
        """Return lists without entries."""
        return cls.with_capacity(n_points, min(LIST_CAPACITY * n_kept, max(n_kept, n_points - 1)))

    @classmethod
    def with_capacity(cls, n_points: int, capacity: int) -> "Lists":
        """Return lists without entries that can hold so many."""
        return cls(
            np.full((n_points, capacity), np.nan, dtype=np.float32),  # not read before written
            np.full((n_points, capacity), -1, dtype=np.int32),
            np.zeros(n_points, dtype=np.int64),
            np.full(n_points, -np.inf, dtype=np.float32),
        )

    def first(self, count: int) -> tuple[Array, Array, Array, Array]:
        """Return the arrays of the first `count` entries of sorted lists, with their thresholds."""
        values, places = self.values[:, :count], self.places[:, :count]
        counts = np.minimum(self.counts, count)
        limits = np.where(counts < count, self.thresholds, values[:, -1])
        return values, places, counts, limits


class Weights(NamedTuple):
    """What turns the product h of two points into a bound on the similarity of i to j.

    The bound is ``(|h_ij| + margins_i norms_j) (owner_i + partner_j)``. The margin covers what
    rounding may have taken away; all numbers are in float32, rounded upwards. The arrays are in the
    order in which the kernels take them.
    """

    owner: Array
    partner: Array
    margins: Array
    norms: Array

    @classmethod
    def rounded_up(cls, owner: Array, partner: Array, norms: Array, rounding: float) -> "Weights":
        """Return the weights from numbers in float64 and the relative error of a product."""
        up = 1.0 + 2.0**-20
        arrays = (owner * up, partner * up, norms * (rounding * up), norms * up)
        return cls(*(array.astype(np.float32) for array in arrays))


# What `largest_similarities` is: a search for the most similar others of every point.
Search = Callable[[Array, list[Weights], bool, int, Progress], list[Lists]]


def largest_similarities(
    vectors: Array, weights: list[Weights], signed: bool, n_kept: int, progress: Progress
) -> list[Lists]:
    """Return, for each kind of weights, about `n_kept` of the largest similarities of every point.

    With `signed`, products below zero count as zero.
    Every product is computed once and offered to both of its points. Blocks of points meet as in a
    tournament: in a round each block has one opponent, so threads never touch the same list and the
    result does not depend on their number. The vectors must come in random order: what a point has
    seen so far then tells which products are worth keeping.
    """
    n, d = vectors.shape
    all_lists = [Lists.empty(n, n_kept) for _ in weights]
    n_blocks = -(-n // TILE)
    scratch, turns = local(), Turns(n_blocks)

    def play(number: int, pair: tuple[int, int]) -> None:
        i, j = sorted(pair)
        with turns.ending(number, i, j):
            if j < n_blocks:
                keep(number, i, j)
            else:  # a bye
                turns.wait_for(number, i)

    def keep(number: int, i: int, j: int) -> None:
        if not hasattr(scratch, "tile"):
            scratch.tile = np.empty(TILE * TILE, dtype=np.float32)
        left, right = (vectors[b * TILE : (b + 1) * TILE] for b in (i, j))
        tile = scratch.tile[: len(left) * len(right)].reshape(len(left), len(right))
        np.matmul(left, right.T, out=tile)
        if signed:
            np.maximum(tile, 0.0, out=tile)
        n_expected = expected_so_far(n_kept, number * TILE / n)
        turns.wait_for(number, i, j)
        for weight, lists in zip(weights, all_lists, strict=True):
            capacity = min(LIST_CAPACITY * n_expected, lists.values.shape[1])
            corner = i * TILE, j * TILE
            kernels.keep_largest(tile, *corner, *weight, n_expected, capacity, *lists)

    with (
        progress.stage("scan", n * (n + TILE) * d / 1e9, "Gflop") as advance,
        block_threads(kernels.n_threads()) as in_threads,
    ):
        for meetings in _between_cuts(rounds(n_blocks)):
            for _ in in_threads(play, *zip(*meetings, strict=True)):
                advance(2e-9 * d * TILE * TILE)
            last = meetings[-1][0]
            if last & (last - 1) == 0:
                shorten(all_lists, expected_so_far(n_kept, last * TILE / n))
    shorten(all_lists, n_kept)
    sort(all_lists, n_kept)
    return all_lists


class Turns:
    """Lets blocks meet in the order of the rounds, though a round begins before the last one ends.

    A block takes part in every round once. Threads must begin meetings in the order of the rounds.
    """

    def __init__(self, n_blocks: int):
        self._n_played = [0] * (n_blocks + n_blocks % 2)
        self._changed = Condition()

    def wait_for(self, number: int, *blocks: int) -> None:
        """Wait until some blocks have ended all rounds before this one."""
        with self._changed:
            self._changed.wait_for(lambda: all(self._n_played[b] >= number - 1 for b in blocks))

    @contextmanager
    def ending(self, number: int, *blocks: int) -> Iterator[None]:
        """Note at the end that blocks have ended a round, also if it failed."""
        try:
            yield
        finally:
            with self._changed:
                for block in blocks:
                    self._n_played[block] = max(number, self._n_played[block])
                self._changed.notify_all()


def _between_cuts(
    all_rounds: Iterator[list[tuple[int, int]]],
) -> Iterator[list[tuple[int, tuple[int, int]]]]:
    """Yield numbered meetings of rounds 1, 2, 3 and 4, 5 to 8, and so on: lists are cut after."""
    meetings: list[tuple[int, tuple[int, int]]] = []
    for number, pairs in enumerate(all_rounds, start=1):
        meetings += [(number, pair) for pair in pairs]
        if number & (number - 1) == 0:
            yield meetings
            meetings = []
    if meetings:
        yield meetings


def expected_so_far(n_kept: int, seen: float) -> int:
    """Return how many of its `n_kept` best a point has met among the share `seen` of all points.

    If the points come in random order there are hardly ever more. Where the guess is wrong a list
    ends up shorter; its threshold is right all the same.
    """
    expected = seen * n_kept
    return min(n_kept, int(expected + 2.5 * np.sqrt(expected)) + 3)


def shorten(all_lists: list[Lists], n_kept: int) -> None:
    """Cut longer lists to their best `n_kept` entries."""
    for lists in all_lists:

        def cut(part: slice, lists: Lists = lists) -> None:
            kernels.shorten_lists(n_kept, *(array[part] for array in lists))

        share_rows(cut, len(lists.counts), kernels.threads_worth(lists.values.size))


def sort(all_lists: list[Lists], n_kept: int) -> None:
    """Sort lists of at most `n_kept` entries in falling order, equal ones by rising place."""
    for lists in all_lists:

        def sort_part(part: slice, lists: Lists = lists) -> None:
            for start in range(part.start, part.stop, TILE):
                rows = slice(start, min(part.stop, start + TILE))
                _sort(lists.values[rows, :n_kept], lists.places[rows, :n_kept], lists.counts[rows])

        share_rows(sort_part, len(lists.counts), kernels.threads_worth(lists.values.size))


def _sort(values: Array, places: Array, counts: Array) -> None:
    """Sort some lists by one number per entry: the bits of its value, which is not negative."""
    keys = values.view(np.uint32).astype(np.uint64) << LOW_BITS
    keys |= ~places.astype(np.uint32)
    keys[np.arange(keys.shape[1]) >= counts[:, None]] = 0
    keys.sort(axis=1)
    keys = keys[:, ::-1]
    values.view(np.uint32)[:] = keys >> LOW_BITS
    places[:] = (~keys).astype(np.uint32).astype(np.int32)


def rounds(n_blocks: int) -> Iterator[list[tuple[int, int]]]:
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
