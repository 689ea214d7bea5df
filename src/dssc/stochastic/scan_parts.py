"""The search of all pairs in parts that can be computed anywhere, and in any order.

The tournament of :func:`dssc.stochastic.scan.largest_similarities` is split into phases. Within a
phase, each part multiplies some pairs of blocks and returns the products that may enter a list,
judged by the thresholds at the start of the phase. Then these products are offered to the lists in
the order of the tournament. A product that is left out is below its threshold, which only rises, so
that it would not have entered a list. Hence the lists have the same bits as those of the tournament
on one machine.

A phase has as many rounds as all phases before it. So a point meets about as many candidates in a
phase as its list holds, and what the parts return is in proportion to the number of points.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby, islice
from typing import NamedTuple, Protocol

import numpy as np

from dssc import kernels
from dssc._progress import Progress
from dssc._threads import block_threads, one_thread
from dssc._typing import Array
from dssc.stochastic.scan import (
    LIST_CAPACITY,
    TILE,
    Lists,
    Weights,
    expected_so_far,
    rounds,
    shorten,
    sort,
)

# Rounds, and pairs of each, that a part holds: few enough to spread small data over many workers,
# many enough that large data make no more parts than a scheduler can follow.
LEAST_SIDE, MOST_SIDE, SIDES = 4, 32, 64


class Meeting(NamedTuple):
    """Two blocks of points that meet in a round of the tournament; left is at most right."""

    round: int
    left: int
    right: int


class Part(NamedTuple):
    """Meetings of blocks near each other, in rounds near each other."""

    name: str
    meetings: list[Meeting]

    @property
    def blocks(self) -> list[int]:
        """The blocks that meet."""
        return sorted({block for m in self.meetings for block in (m.left, m.right)})


class Candidates(NamedTuple):
    """Products that may enter a list, for one kind of lists.

    Attributes
    ----------
    counts : ndarray of shape (n_meetings,)
        Number of products of every meeting.
    places : ndarray
        Their places in the flattened tile, one meeting after the other.
    products : ndarray
        The products.
    """

    counts: Array
    places: Array
    products: Array

    def of_meetings(self) -> Iterator[tuple[Array, Array]]:
        """Yield the places and products of every meeting."""
        ends = np.cumsum(self.counts)
        for start, end in zip(ends - self.counts, ends, strict=True):
            yield self.places[start:end], self.products[start:end]


class PartResult(NamedTuple):
    """The candidates of a part as bytes, with a checksum made where they were found."""

    content: bytes
    checksum: str

    @classmethod
    def packed(cls, kinds: list[Candidates]) -> "PartResult":
        """Return the candidates of every kind of lists as bytes."""
        content = b"".join(array.tobytes() for candidates in kinds for array in candidates)
        return cls(content, checksum(content))

    @property
    def is_intact(self) -> bool:
        """Whether the content is what was found."""
        return checksum(self.content) == self.checksum

    def unpacked(self, n_meetings: int, n_kinds: int) -> list[Candidates]:
        """Return the candidates of every kind of lists."""
        kinds, at = [], 0

        def read(dtype: type, count: int) -> Array:
            nonlocal at
            array: Array = np.frombuffer(self.content, dtype, count, at)
            at += array.nbytes
            return array

        for _ in range(n_kinds):
            counts = read(np.int64, n_meetings)
            total = int(counts.sum())
            kinds.append(Candidates(counts, read(np.int32, total), read(np.float32, total)))
        return kinds


class Runner(Protocol):
    """Finds the candidates of parts, here or elsewhere."""

    def __call__(
        self, parts: list[Part], points: "PointBounds", signed: bool
    ) -> Iterable[tuple[Part, PartResult]]:
        """Yield every part with its intact result, in any order."""


class PointBounds(NamedTuple):
    """What turns products into bounds, and the thresholds these must exceed, for all points.

    `arrays` has the shape (n_kinds, 5, n_points): owner, partner, margin, norm and threshold; see
    `Weights` and `Lists`.
    """

    arrays: Array

    @classmethod
    def of(cls, weights: list[Weights], all_lists: list[Lists]) -> "PointBounds":
        """Return the weights and the present thresholds of every kind of lists."""
        kinds = zip(weights, all_lists, strict=True)
        return cls(np.array([(*weight, lists.thresholds) for weight, lists in kinds]))

    def of_blocks(self, blocks: Iterable[int]) -> dict[int, Array]:
        """Return what belongs to the points of some blocks."""
        return {b: self.arrays[:, :, b * TILE : (b + 1) * TILE] for b in blocks}


class LocalRunner:
    """Finds candidates on the threads of this process. Implements `Runner`."""

    def __init__(self, vectors: Array):
        self.vectors = vectors

    def __call__(
        self, parts: list[Part], points: PointBounds, signed: bool
    ) -> Iterator[tuple[Part, PartResult]]:
        """Yield every part with its result."""

        def find(part: Part) -> PartResult:
            return find_candidates(
                part.meetings, self._block, points.of_blocks(part.blocks), signed
            )

        with block_threads(kernels.n_threads()) as in_threads:
            yield from zip(parts, in_threads(find, parts), strict=True)

    def _block(self, number: int) -> Array:
        return self.vectors[number * TILE : (number + 1) * TILE]


def find_candidates(
    meetings: list[Meeting],
    block: Callable[[int], Array],
    bounds: Mapping[int, Array],
    signed: bool,
) -> PartResult:
    """Return the products of blocks that may enter a list.

    Parameters
    ----------
    meetings : list of Meeting
        The blocks to multiply.
    block : callable
        Returns the vectors of a block.
    bounds : mapping of int to ndarray of shape (n_kinds, 5, n_points)
        What `PointBounds` holds for the points of each block.
    signed : bool
        Whether products below zero count as zero.
    """
    scratch = np.empty(TILE * TILE, dtype=np.float32)
    found, products = np.empty(TILE * TILE, dtype=np.int32), np.empty_like(scratch)
    n_kinds = len(next(iter(bounds.values())))
    pieces: list[list[tuple[Array, Array]]] = [[] for _ in range(n_kinds)]
    for _, i, j in meetings:
        left, right = block(i), block(j)
        tile = scratch[: len(left) * len(right)].reshape(len(left), len(right))
        np.matmul(left, right.T, out=tile)
        if signed:
            np.maximum(tile, 0.0, out=tile)
        for kind, (row, column) in enumerate(zip(bounds[i], bounds[j], strict=True)):
            of_rows, of_columns = row[[0, 1, 2, 4]], column[[0, 1, 3, 4]]
            n = kernels.list_candidates(tile, i == j, *of_rows, *of_columns, found, products)
            pieces[kind].append((found[:n].copy(), products[:n].copy()))
    return PartResult.packed(
        [
            Candidates(
                np.array([len(places) for places, _ in kind]),
                np.concatenate([places for places, _ in kind]),
                np.concatenate([values for _, values in kind]),
            )
            for kind in pieces
        ]
    )


def find_candidates_alone(
    meetings: list[Meeting],
    numbers: list[int],
    bounds: Mapping[int, Array],
    signed: bool,
    blocks_per_chunk: int,
    *chunks: Array,
) -> PartResult:
    """Return the candidates of a part from chunks of several blocks, on one thread.

    ``numbers`` says which chunks these are.
    """
    chunk_of = dict(zip(numbers, chunks, strict=True))

    def block(number: int) -> Array:
        chunk, place = divmod(number, blocks_per_chunk)
        return chunk_of[chunk][place * TILE : (place + 1) * TILE]

    with one_thread():
        return find_candidates(meetings, block, bounds, signed)


def largest_similarities_by_parts(
    vectors: Array,
    weights: list[Weights],
    signed: bool,
    n_kept: int,
    progress: Progress,
    run: Runner,
) -> list[Lists]:
    """Return what :func:`dssc.stochastic.scan.largest_similarities` returns, bit for bit.

    `run` finds the candidates of the parts.
    """
    n, d = vectors.shape
    all_lists = [Lists.empty(n, n_kept) for _ in weights]
    with progress.stage("scan", n * (n + TILE) * d / 1e9, "Gflop") as advance:
        for parts in phases(-(-n // TILE)):
            found = {}
            for part, result in run(parts, PointBounds.of(weights, all_lists), signed):
                found[part.name] = result.unpacked(len(part.meetings), len(weights))
                advance(2e-9 * d * TILE * TILE * len(part.meetings))
            _offer(parts, found, weights, all_lists, n_kept)
    shorten(all_lists, n_kept)
    sort(all_lists, n_kept)
    return all_lists


def _offer(
    parts: list[Part],
    found: dict[str, list[Candidates]],
    weights: list[Weights],
    all_lists: list[Lists],
    n_kept: int,
) -> None:
    """Offer the candidates of a phase to the lists, round by round."""
    n = len(weights[0].owner)
    offers = []
    for part in parts:
        of_kinds = zip(*(kind.of_meetings() for kind in found[part.name]), strict=True)
        offers += list(zip(part.meetings, of_kinds, strict=True))
    offers.sort(key=lambda offer: offer[0])
    for number, of_round in groupby(offers, key=lambda offer: offer[0].round):
        n_expected = expected_so_far(n_kept, number * TILE / n)
        for (_, i, j), kinds in of_round:
            corner, width = (i * TILE, j * TILE), min(TILE, n - j * TILE)
            for weight, lists, candidates in zip(weights, all_lists, kinds, strict=True):
                capacity = min(LIST_CAPACITY * n_expected, lists.values.shape[1])
                kernels.keep_listed(
                    *candidates, width, *corner, *weight, n_expected, capacity, *lists
                )
        if number & (number - 1) == 0:  # after rounds 1, 2, 4, ...
            shorten(all_lists, n_expected)


def phases(n_blocks: int) -> Iterator[list[Part]]:
    """Yield the parts of every phase: round 1, round 2, rounds 3 and 4, 5 to 8, and so on."""
    all_rounds = enumerate(rounds(n_blocks), start=1)
    n_rounds = 1
    while played := list(islice(all_rounds, n_rounds)):
        first = played[0][0]
        if parts := list(_parts(played, n_blocks)):
            yield parts
        n_rounds = max(1, first + n_rounds - 1)


def _parts(played: list[tuple[int, list[tuple[int, int]]]], n_blocks: int) -> Iterator[Part]:
    """Yield parts of several rounds and of pairs at about the same place in them.

    Blocks move by one place per round. So a part of s rounds and s places needs about 4 s blocks
    for its s² pairs.
    """
    side = blocks_per_side(n_blocks)
    for start in range(0, len(played), side):
        group = played[start : start + side]
        for place in range(0, len(group[0][1]), side):
            meetings = [
                Meeting(number, *sorted(pair))
                for number, pairs in group
                for pair in pairs[place : place + side]
                if max(pair) < n_blocks  # the last of an odd number has a bye
            ]
            if meetings:
                yield Part(f"{group[0][0]:06d}-{place:06d}", meetings)


def blocks_per_side(n_blocks: int) -> int:
    """Return how many rounds, and pairs of each, make a part: a multiple of four."""
    side = n_blocks // SIDES // LEAST_SIDE * LEAST_SIDE
    return min(MOST_SIDE, max(LEAST_SIDE, side))


def checksum(content: bytes) -> str:
    """Return the checksum of some bytes."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()
