"""The search of all pairs in parts that are computed elsewhere, with the bits of a single process.

The rounds of :func:`dssc.stochastic.scan.largest_similarities` are played in groups, and the
pairs of a group are divided into parts. A part gets the thresholds that are known when it is
handed out, from lists after some earlier round. Its candidates are offered to the lists in the
order of the tournament. A product that is left out is below its threshold, which only rises, so
it would not have entered a list. Hence the lists do not depend on when and where parts are
computed.

Parts up to round 4 r are handed out when r rounds are complete, so that no worker waits for this
process. A threshold from an earlier round is lower, so that more candidates exceed it: 7 % more
than if parts waited for the round before. What parts return is still in proportion to the number of
points. In the first round there is no threshold, so its parts return lists.
"""

from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from dssc import kernels
from dssc._progress import Progress
from dssc._threads import share_rows
from dssc._typing import Array
from dssc.stochastic.scan import (
    LIST_CAPACITY,
    TILE,
    Lists,
    Weights,
    expected_so_far,
    shorten,
    sort,
)
from dssc.stochastic.scan_parts import Part, PartResult, Runner

# Version of what the names of parts mean. It is raised when a name comes to mean other pairs, or
# another order of them, so that results that an earlier version has stored are not used.
PARTS_VERSION = 1
# Rounds, and pairs of each, that a part holds, in units of the root of the number of blocks. So
# there are fewer parts than blocks: enough for many workers, few enough for their scheduler.
SIDE = 0.9
# A part is handed out if its last round is at most this many times the number of complete rounds.
AHEAD = 4
# Rounds, and pairs of each, that are computed together in a part, and the blocks that they need.
TOGETHER = 8
BLOCKS_TOGETHER = 4 * TOGETHER
# Limits of these numbers, which are multiples of the smaller one.
LEAST_SIDE, MOST_SIDE = 4, 256


class Group(NamedTuple):
    """Consecutive rounds of the tournament, and the meetings of each of their parts by name."""

    last_round: int
    parts: dict[str, Array]


def largest_similarities_by_parts(
    shape: tuple[int, int],
    weights: list[Weights],
    signed: bool,
    n_kept: int,
    progress: Progress,
    run: Runner,
) -> list[Lists]:
    """Return what :func:`dssc.stochastic.scan.largest_similarities` returns, bit for bit.

    `shape` is the shape of the vectors, and `run` computes the parts.
    """
    n, d = shape
    tournament = Tournament(n, weights, signed, n_kept)
    with progress.stage("scan", n * (n + TILE) * d / 1e9, "Gflop") as advance:
        for part, result in run(tournament.next_part):
            tournament.add(part, result)
            advance(2e-9 * d * TILE * TILE * len(part.meetings))
    return tournament.lists()


class Tournament:
    """Hands out parts, and offers what they found to the lists in the order of the rounds.

    Parameters
    ----------
    n_points : int
        Number of points.
    weights : list of Weights
        The weights of every kind of lists.
    signed : bool
        Whether products below zero count as zero.
    n_kept : int
        Entries that a list keeps.
    """

    def __init__(self, n_points: int, weights: list[Weights], signed: bool, n_kept: int):
        self.n_points, self.weights, self.signed, self.n_kept = n_points, weights, signed, n_kept
        self.n_rounds = 0  # rounds that are complete
        self._lists = [Lists.empty(n_points, n_kept) for _ in weights]
        self._groups = groups(-(-n_points // TILE))
        self._open: deque[Group] = deque()  # groups that are not complete, in order
        self._waiting: deque[tuple[int, str, Array]] = deque()  # parts of the last of them
        self._results: dict[str, tuple[Part, PartResult]] = {}

    def next_part(self) -> Part | None:
        """Return the next part, or None if other parts must be computed before it."""
        if not self._waiting and (group := next(self._groups, None)):
            self._open.append(group)
            self._waiting.extend((group.last_round, *part) for part in group.parts.items())
        if not self._waiting or self._waiting[0][0] > max(1, AHEAD * self.n_rounds):
            return None
        last_round, name, meetings = self._waiting.popleft()
        part = Part(name, meetings, {}, *self._limits(1), self.signed)
        if last_round == 1:
            return part
        return part._replace(thresholds={b: self._thresholds(b) for b in part.blocks})

    def add(self, part: Part, result: PartResult) -> None:
        """Keep the result of a part, and offer what is complete to the lists."""
        self._results[part.name] = part, result
        while self._open and self._open[0].parts.keys() <= self._results.keys():
            group = self._open.popleft()
            found = [self._results.pop(name) for name in group.parts]
            if group.last_round == 1:
                self._begin(found)
            else:
                self._offer(found)
            self.n_rounds = group.last_round

    def lists(self) -> list[Lists]:
        """Return the sorted lists, when all parts were added."""
        assert not self._open
        assert next(self._groups, None) is None
        shorten(self._lists, self.n_kept)
        sort(self._lists, self.n_kept)
        return self._lists

    def _limits(self, number: int) -> tuple[int, int]:
        """Return how many entries a list keeps in a round, and how many it can hold."""
        n_expected = expected_so_far(self.n_kept, number * TILE / self.n_points)
        return n_expected, min(LIST_CAPACITY * n_expected, self._lists[0].values.shape[1])

    def _thresholds(self, block: int) -> Array:
        points = slice(block * TILE, (block + 1) * TILE)
        return np.array([lists.thresholds[points] for lists in self._lists])

    def _begin(self, found: list[tuple[Part, PartResult]]) -> None:
        """Take over the lists after the first round."""
        for part, result in found:
            blocks = part.blocks
            points = slice(blocks[0] * TILE, min(self.n_points, (blocks[-1] + 1) * TILE))
            n_points = points.stop - points.start
            of_part = result.first_lists(n_points, part.capacity, len(self._lists))
            for lists, first in zip(self._lists, of_part, strict=True):
                lists.values[points, : part.capacity] = first.values
                lists.places[points, : part.capacity] = first.places
                lists.counts[points], lists.thresholds[points] = first.counts, first.thresholds

    def _offer(self, found: list[tuple[Part, PartResult]]) -> None:
        """Offer the candidates of a group to the lists, and cut these after rounds 2, 4, 8, ..."""
        meetings = np.concatenate([part.meetings for part, _ in found])
        rounds = np.arange(meetings[:, 0].min(), meetings[:, 0].max() + 1)
        n_blocks = -(-self.n_points // TILE)
        tiles = np.full((len(rounds), n_blocks), -1)
        for column in (1, 2):
            tiles[meetings[:, 0] - rounds[0], meetings[:, column]] = np.arange(len(meetings))
        rows, columns = meetings[:, 1:].T.astype(np.int64) * TILE
        widths = np.minimum(TILE, self.n_points - columns)
        kept, capacities = np.array([self._limits(int(number)) for number in rounds]).T.copy()
        limits = kept, capacities, rounds & (rounds - 1) == 0
        kinds = [result.candidates(len(part.meetings), len(self.weights)) for part, result in found]
        for number, of_kind in enumerate(zip(*kinds, strict=True)):
            counts, at, products = map(np.concatenate, zip(*of_kind, strict=True))
            starts = np.concatenate([[0], np.cumsum(counts)])
            candidates = at, products, starts, rows, columns, widths, tiles
            lists = *self.weights[number], *limits, *self._lists[number]

            def offer(blocks: slice, candidates: Any = candidates, lists: Any = lists) -> None:
                some = np.arange(blocks.start, blocks.stop)
                kernels.keep_listed(some, TILE, *candidates, *lists)

            share_rows(offer, n_blocks, kernels.threads_worth(len(at)))


def groups(n_blocks: int) -> Iterator[Group]:
    """Yield the rounds 1, 2, 3 and 4, 5 to 8, and so on, up to `blocks_per_side` at a time."""
    side = blocks_per_side(n_blocks)
    n_all = n_blocks + n_blocks % 2  # the first round, in which blocks meet themselves, and others
    first = 1
    while first <= n_all:
        last = min(n_all, 2 * (first - 1), first + side - 1) if first > 1 else 1
        if parts := dict(_parts(range(first, last + 1), n_blocks, side)):
            yield Group(last, parts)
        first = last + 1


def _parts(numbers: range, n_blocks: int, side: int) -> Iterator[tuple[str, Array]]:
    """Yield parts of several rounds and of pairs at about the same place in them, by name.

    Blocks move by one place per round. So a part of s rounds and s places needs about 4 s blocks
    for its s² pairs. In the first round a part has the blocks of one chunk. The next ones have to
    wait for each other, so their parts are small: then workers end at about the same time. So are
    those at the end.
    """
    is_first = numbers.start == 1
    is_waited_for = numbers.start <= 2 * side or numbers.stop > n_blocks
    n_places = side // 2 if is_waited_for and not is_first else side
    for place in range(0, n_blocks if is_first else (n_blocks + 1) // 2, n_places):
        found = meetings(np.array(numbers), np.arange(place, place + n_places), n_blocks)
        if len(found):
            yield f"{numbers.start:06d}-{place:06d}", found


def meetings(numbers: Array, places: Array, n_blocks: int) -> Array:
    """Return the meetings at some places of some rounds, as `Part` holds them.

    These are the pairs of :func:`dssc.stochastic.scan.rounds`, without the bye. They come square by
    square, so that those that follow each other need few blocks.
    """
    if numbers[0] == 1:
        blocks = places[places < n_blocks]
        return np.stack([np.ones_like(blocks), blocks, blocks], axis=1).astype(np.int32)
    n = n_blocks + n_blocks % 2
    turn, place = np.repeat(numbers - 2, len(places)), np.tile(places, len(numbers))
    squares = np.lexsort([(place - place[0]) // TOGETHER, (turn - turn[0]) // TOGETHER])
    turn, place = turn[squares], place[squares]
    one, other = (turn + place) % (n - 1), (turn - place) % (n - 1)
    other[place == 0] = n - 1
    found = np.stack([turn + 2, np.minimum(one, other), np.maximum(one, other)], axis=1)
    return found[(place < n // 2) & (found[:, 2] < n_blocks)].astype(np.int32)


def blocks_per_side(n_blocks: int) -> int:
    """Return how many rounds, and pairs of each, make a part."""
    side = LEAST_SIDE * round(SIDE * n_blocks**0.5 / LEAST_SIDE)
    return min(MOST_SIDE, max(LEAST_SIDE, side))
