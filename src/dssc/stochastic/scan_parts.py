"""Parts of the search of all pairs, which can be computed anywhere and in any order.

A part multiplies some pairs of blocks of points and returns the products that may enter a list of
:func:`dssc.stochastic.scan.largest_similarities`. :mod:`dssc.stochastic.tournament` says which
parts there are, and puts their results together.
"""

import hashlib
import threading
from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

import numpy as np

from dssc import kernels
from dssc._threads import block_threads
from dssc._typing import Array
from dssc.stochastic.scan import TILE, Lists, Weights

# The products of a tile, which every thread keeps: fresh memory for each part takes longer.
SCRATCH = threading.local()
# What a runner asks for: the next part that can be computed, or None if there is none at present.
NextPart = Callable[[], "Part | None"]
# Returns something about the points of a block.
OfBlock = Callable[[int], Array]


class Part(NamedTuple):
    """Pairs of blocks to multiply, and what their products must exceed.

    Attributes
    ----------
    name : str
        Its name in the search.
    meetings : ndarray of shape (n_meetings, 3)
        For every pair its round in the tournament and its two blocks, the lower one first.
    thresholds : dict of int to ndarray of shape (n_kinds, n_points)
        The thresholds of the points of every block, for each kind of lists. Empty in the first
        round, in which blocks meet themselves.
    n_kept, capacity : int
        Entries that a list of the first round keeps, and those that it can hold.
    signed : bool
        Whether products below zero count as zero.
    """

    name: str
    meetings: Array
    thresholds: dict[int, Array]
    n_kept: int
    capacity: int
    signed: bool

    @property
    def blocks(self) -> list[int]:
        """The blocks that meet."""
        return sorted({int(block) for block in self.meetings[:, 1:].ravel()})

    @property
    def is_first(self) -> bool:
        """Whether this part belongs to the first round."""
        return not self.thresholds


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


class PartResult(NamedTuple):
    """What a part found as bytes, with a checksum made where it was found."""

    content: bytes
    checksum: str

    @classmethod
    def of(cls, arrays: list[Array]) -> "PartResult":
        """Return arrays as bytes."""
        content = b"".join(array.tobytes() for array in arrays)
        return cls(content, checksum(content))

    @property
    def is_intact(self) -> bool:
        """Whether the content is what was found."""
        return checksum(self.content) == self.checksum

    def candidates(self, n_meetings: int, n_kinds: int) -> list[Candidates]:
        """Return the candidates of every kind of lists."""
        read, kinds = _Reader(self.content), []
        for _ in range(n_kinds):
            counts = read(np.int64, n_meetings)
            total = int(counts.sum())
            kinds.append(Candidates(counts, read(np.int32, total), read(np.float32, total)))
        return kinds

    def first_lists(self, n_points: int, capacity: int, n_kinds: int) -> list[Lists]:
        """Return the lists of some points after the first round, for every kind of lists."""
        read, shape = _Reader(self.content), (n_points, capacity)
        return [
            Lists(
                read(np.float32, n_points * capacity).reshape(shape),
                read(np.int32, n_points * capacity).reshape(shape),
                read(np.int64, n_points),
                read(np.float32, n_points),
            )
            for _ in range(n_kinds)
        ]


class _Reader:
    """Reads one array after the other."""

    def __init__(self, content: bytes):
        self.content, self.at = content, 0

    def __call__(self, dtype: type, count: int) -> Array:
        array: Array = np.frombuffer(self.content, dtype, count, self.at)
        self.at += array.nbytes
        return array


class Runner(Protocol):
    """Computes parts, here or elsewhere."""

    def __call__(self, next_part: NextPart) -> Iterator[tuple[Part, PartResult]]:
        """Yield parts with their intact results, in any order.

        More parts may be ready after each one that is yielded. Ends when none is ready and none is
        being computed.
        """


class LocalRunner:
    """Computes parts on the threads of this process. Implements `Runner`."""

    def __init__(self, vectors: Array, weights: list[Weights]):
        self.vectors, self.weights = vectors, weights

    def __call__(self, next_part: NextPart) -> Iterator[tuple[Part, PartResult]]:
        """Yield parts with their results, a few for each thread at a time."""
        n_threads = kernels.n_threads()
        with block_threads(n_threads) as in_threads:
            while parts := list(_first_of(next_part, 2 * n_threads)):
                yield from zip(parts, in_threads(self._result, parts), strict=True)

    def _result(self, part: Part) -> PartResult:
        return find_candidates(part, self._vectors_of, self._weights_of)

    def _vectors_of(self, block: int) -> Array:
        return self.vectors[block * TILE : (block + 1) * TILE]

    def _weights_of(self, block: int) -> Array:
        points = slice(block * TILE, (block + 1) * TILE)
        return np.array([[array[points] for array in weight] for weight in self.weights])


def _first_of(next_part: NextPart, count: int) -> Iterator[Part]:
    for _ in range(count):
        part = next_part()
        if part is None:
            return
        yield part


def find_candidates(part: Part, vectors_of: OfBlock, weights_of: OfBlock) -> PartResult:
    """Return the products of a part that may enter a list; in the first round, the lists.

    Parameters
    ----------
    part : Part
        The blocks to multiply.
    vectors_of : callable
        Returns the vectors of a block.
    weights_of : callable
        Returns the `Weights` of a block, of shape (n_kinds, 4, n_points).
    """
    if part.is_first:
        return _first_lists(part, vectors_of, weights_of)
    weights = {block: weights_of(block) for block in part.blocks}
    n_kinds = len(next(iter(weights.values())))
    found, products = np.empty((2, TILE * TILE), dtype=np.int32)
    products = products.view(np.float32)
    pieces: list[list[tuple[Array, Array]]] = [[] for _ in range(n_kinds)]
    for (_, i, j), tile in _tiles(part, vectors_of):
        for kind in range(n_kinds):
            owner, partner, margins, _ = weights[i][kind]
            owners, partners, _, norms = weights[j][kind]
            rows = owner, partner, margins, part.thresholds[i][kind]
            columns = owners, partners, norms, part.thresholds[j][kind]
            n = kernels.list_candidates(tile, i == j, *rows, *columns, found, products)
            pieces[kind].append((found[:n].copy(), products[:n].copy()))
    arrays: list[Array] = []
    for kind_pieces in pieces:
        places, values = zip(*kind_pieces, strict=True)
        arrays += [np.array([len(p) for p in places]), *map(np.concatenate, (places, values))]
    return PartResult.of(arrays)


def _first_lists(part: Part, vectors_of: OfBlock, weights_of: OfBlock) -> PartResult:
    """Return the lists of blocks that met themselves, which hold nearly all of their products."""
    all_lists: list[list[Lists]] = []
    for (_, block, _), tile in _tiles(part, vectors_of):
        of_block = []
        for weight in weights_of(block):
            lists = Lists.with_capacity(len(tile), part.capacity)
            kernels.keep_largest(tile, 0, 0, *weight, part.n_kept, part.capacity, *lists)
            kernels.shorten_lists(part.n_kept, *lists)
            lists.places[lists.places >= 0] += block * TILE
            of_block.append(lists)
        all_lists.append(of_block)
    by_kind = zip(*all_lists, strict=True)
    return PartResult.of(
        [np.concatenate(arrays) for kind in by_kind for arrays in zip(*kind, strict=True)]
    )


def _tiles(part: Part, vectors_of: OfBlock) -> Iterator[tuple[tuple[int, int, int], Array]]:
    """Yield every meeting with its products."""
    if getattr(SCRATCH, "size", 0) < TILE * TILE:
        SCRATCH.size, SCRATCH.tile = TILE * TILE, np.empty(TILE * TILE, dtype=np.float32)
    for number, i, j in part.meetings.tolist():
        left = vectors_of(i)
        # The product of an array with itself is another routine, with other bits.
        right = left if i == j else vectors_of(j)
        tile = SCRATCH.tile[: len(left) * len(right)].reshape(len(left), len(right))
        np.matmul(left, right.T, out=tile)
        if part.signed:
            np.maximum(tile, 0.0, out=tile)
        yield (number, i, j), tile


def checksum(content: bytes) -> str:
    """Return the checksum of some bytes."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()
