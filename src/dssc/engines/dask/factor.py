"""Least squares on a cluster: the vectors stay with the workers."""

import threading
from collections.abc import Iterator
from functools import partial
from itertools import combinations_with_replacement
from operator import getitem
from typing import Any

import dask
import numpy as np

from dssc import kernels
from dssc._cluster_rows import BATCH, ClusterRows, batches_per_chunk
from dssc._progress import Progress
from dssc._threads import one_thread
from dssc._typing import Array
from dssc.engines.dask.workers import ATTEMPTS, Task, Workers
from dssc.expression.factor import (
    KnownProducts,
    SplitVectors,
    check_representable,
    group_gram,
    product_rows,
    rounding_of,
    scales_of,
    split_vectors,
    substitution,
)
from dssc.expression.gram import BLOCK, GROUP
from dssc.stochastic.scan import TILE, Weights
from dssc.stochastic.scan_parts import NextPart, Part, PartResult, find_candidates
from dssc.stochastic.tournament import BLOCKS_TOGETHER, blocks_per_side

# Pairs of a task for exact products, which travel with it.
MOST_PAIRS = 1 << 18
# Bytes of copies of blocks that a thread keeps, unless two of them are larger.
COPIED_BYTES = 1 << 25
# Gram matrices that are fetched together.
GRAMS_FETCHED = 32
# Size of a graph from which Dask warns; a factor of X'X belongs into it.
GRAPH_BYTES = "1 GB"


class ClusterFactor:
    """What :class:`dssc.expression.LeastSquaresFactor` is, with its vectors on a cluster.

    Workers compute vectors from chunks of X, exchange them so that they are in the order of the
    search, and keep them. Nothing of the size of X comes to the client. What a worker loses is
    computed again from X.

    Parameters
    ----------
    workers : Workers
        The workers.
    X : ClusterRows of shape (n_samples, n_features)
        Samples, none of them zero.
    eta1 : float
        Weight of the penalty, positive or infinite.
    progress : Progress
        Shows the stage "factor".
    weights : ndarray of shape (n_samples,), optional
        How often each sample counts.

    Attributes
    ----------
    order, norms, scales, rounding
        As in `LeastSquaresFactor`.
    vectors : RemoteRows of shape (n_samples, n_features)
        Row r is the vector of sample ``order[r]``, rounded to float32.
    """

    def __init__(
        self,
        workers: Workers,
        X: ClusterRows,
        eta1: float,
        progress: Progress,
        weights: Array | None = None,
    ):
        check_representable(eta1)
        n, d = X.shape
        self.workers, self.shape = workers, (n, d)
        self.rounding = rounding_of(d)
        self.order = np.random.default_rng(0).permutation(n)
        self._place = np.argsort(self.order)
        self._known = KnownProducts(n)
        self.chunk_rows = rows_per_chunk(n, d)
        self.n_chunks = -(-n // self.chunk_rows)
        with progress.stage("factor"):
            gram = self._gram(X, eta1, weights) if np.isfinite(eta1) else None
            self.norms, self.chunks, self.corrections = self._vectors(X, gram)
        self.vectors = RemoteRows(self)
        self.scales = scales_of(self.norms, eta1, weights)

    def products(self, rows: Array, columns: Array) -> Array:
        """Return h at pairs of samples in float64; each is computed once, and kept."""
        return self._known.at(rows, columns, self._products)

    def product_rows(self, places: Array) -> Array:
        """Return the products of the vectors at some places with all vectors, in float32."""
        left = self.workers.hold("left", self.vectors[places])
        tasks = [
            Task(f"rows {number}", rows_in_chunk, (left, chunk))
            for number, chunk in enumerate(self.chunks)
        ]
        found = self.workers.run_all(tasks)
        pieces = [np.frombuffer(found[task.name].content, np.float32) for task in tasks]
        return np.hstack([piece.reshape(len(places), -1) for piece in pieces])

    def gathered(self, places: Array) -> Any:
        """Return a future of the vectors at some places, brought together by the workers."""
        numbers, inside = np.divmod(places, self.chunk_rows)
        keep = self.workers.keep
        pieces = [
            keep("piece", rows_at, inside[numbers == number], self.chunks[number])
            for number in np.unique(numbers)
        ]
        return keep("gathered", in_order, numbers, *pieces)

    def fetched(self, places: Array, *kinds: list[Any]) -> Array:
        """Return the rows at some places of each kind of chunks, vectors or corrections."""
        numbers, inside = np.divmod(places, self.chunk_rows)
        tasks = {
            number: Task(
                f"fetch {number}",
                checked_rows,
                (inside[numbers == number], *(chunks[number] for chunks in kinds)),
            )
            for number in np.unique(numbers)
        }
        found = self.workers.run_all(list(tasks.values()))
        out = np.empty((len(kinds), len(places), self.shape[1]), dtype=np.float32)
        for number, task in tasks.items():
            rows = np.frombuffer(found[task.name].content, np.float32)
            out[:, numbers == number] = rows.reshape(len(kinds), -1, self.shape[1])
        return out

    def run_parts(
        self, weights: list[Weights], device: str | None, next_part: NextPart
    ) -> Iterator[tuple[Part, PartResult]]:
        """Yield parts of a search with their results; a `Runner`, after the first two arguments."""
        parts: dict[str, Part] = {}
        held = [self._held_weights(weights, number) for number in range(self.n_chunks)]

        def next_task() -> Task | None:
            part = next_part()
            if part is None:
                return None
            numbers = sorted({block * TILE // self.chunk_rows for block in part.blocks})
            chunks = [futures[number] for futures in (self.chunks, held) for number in numbers]
            arguments = part, numbers, self.chunk_rows, device, *chunks
            task = Task(f"scan {part.name}", part_in_chunks, arguments)
            parts[task.name] = part
            return task

        for name, result in self.workers.run(next_task, balanced=True):
            yield parts.pop(name), result

    def _held_weights(self, weights: list[Weights], number: int) -> Any:
        points = slice(number * self.chunk_rows, (number + 1) * self.chunk_rows)
        array = np.array([[array[points] for array in weight] for weight in weights])
        return self.workers.hold(f"weights-{number}", array)

    def _gram(self, X: ClusterRows, eta1: float, weights: Array | None) -> Array:
        """Return ``X'X + eta1 I``, or ``X'WX + eta1 I``, summed as in `regularised_gram`."""
        gram = eta1 * np.eye(self.shape[1])
        groups = X.array.rechunk({0: BLOCK * GROUP}).to_delayed().ravel()
        rows = [slice(start, start + BLOCK * GROUP) for start in range(0, len(X), BLOCK * GROUP)]
        tasks = [
            delayed_gram(
                group,
                None if weights is None else weights[rows[number]],
                dask_key_name=self._key("gram", number),
            )
            for number, group in enumerate(groups)
        ]
        for start in range(0, len(tasks), GRAMS_FETCHED):
            for part in dask.compute(*tasks[start : start + GRAMS_FETCHED]):
                gram += part
        return gram

    def _vectors(self, X: ClusterRows, gram: Array | None) -> tuple[Array, list[Any], list[Any]]:
        """Return the norms, and futures of chunks of vectors and of corrections."""
        samples = X.array.rechunk({0: self.chunk_rows}).to_delayed().ravel()
        substitute = dask.delayed(substitution(gram), traverse=False)
        made = [
            delayed_vectors(chunk, substitute, dask_key_name=self._key("vectors", number))
            for number, chunk in enumerate(samples)
        ]
        norms = [delayed_norms(one) for one in made]
        halves: tuple[list[Any], list[Any]] = ([], [])
        for number in range(self.n_chunks):
            order = self.order[number * self.chunk_rows : (number + 1) * self.chunk_rows]
            origin = (order // self.chunk_rows).astype(np.int32)
            pieces = [
                delayed_piece(made[i], (order[origin == i] % self.chunk_rows).astype(np.int32))
                for i in np.unique(origin)
            ]
            merged = delayed_merge(origin, pieces, dask_key_name=self._key("shuffle", number))
            for half, name in enumerate(("chunk", "corrections")):
                key = self._key(name, number)
                halves[half].append(delayed_half(merged, half, dask_key_name=key))
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": GRAPH_BYTES}):
            futures = self.workers.client.compute(
                [*norms, *halves[0], *halves[1]], retries=ATTEMPTS
            )
        of_chunks = futures[: len(norms)]
        return (
            np.concatenate(self.workers.client.gather(of_chunks)),
            futures[len(norms) : len(norms) + self.n_chunks],
            futures[len(norms) + self.n_chunks :],
        )

    def _key(self, name: str, number: int) -> str:
        return f"{self.workers.key(name)}-{number}"

    def _products(self, rows: Array, columns: Array) -> Array:
        """Return products of pairs, those of vectors in the same two chunks together."""
        places = np.sort([self._place[rows], self._place[columns]], axis=0)
        if places.size <= self.chunk_rows:
            return self._products_here(places)
        numbers = places // self.chunk_rows
        group = numbers[0] * self.n_chunks + numbers[1]
        order = np.argsort(group, kind="stable")
        starts = np.searchsorted(group[order], np.arange(self.n_chunks**2 + 1))
        pairs: dict[str, Array] = {}
        tasks = []
        for i, j in combinations_with_replacement(range(self.n_chunks), 2):
            own = order[starts[i * self.n_chunks + j] : starts[i * self.n_chunks + j + 1]]
            for k in range(0, len(own), MOST_PAIRS):
                at = own[k : k + MOST_PAIRS]
                inside = (places[:, at] % self.chunk_rows).astype(np.int32)
                halves = self.chunks[i], self.corrections[i], self.chunks[j], self.corrections[j]
                task = Task(f"products {i}-{j}-{k}", products_of_chunks, (inside, *halves))
                tasks.append(task)
                pairs[task.name] = at
        out = np.empty(len(rows))
        for name, result in self.workers.run_all(tasks).items():
            out[pairs[name]] = np.frombuffer(result.content)
        return out

    def _products_here(self, places: Array) -> Array:
        """Return products of few pairs of vectors, which come to the client."""
        needed, pairs = np.unique(places, return_inverse=True)
        halves = self.fetched(needed, self.chunks, self.corrections)
        first, second = pairs.reshape(places.shape)
        out = np.empty(places.shape[1])
        kernels.paired_products(*halves, first, *halves, second, out)
        return out


class RemoteRows:
    """The vectors of a `ClusterFactor`; indexing by places fetches them."""

    def __init__(self, factor: ClusterFactor):
        self.factor, self.shape = factor, factor.shape

    def __getitem__(self, places: Array) -> Array:
        return self.factor.fetched(places, self.factor.chunks)[0]


def rows_per_chunk(n: int, d: int) -> int:
    """Return how many vectors make a chunk: at least as many as a side of a part has."""
    side = blocks_per_side(-(-n // TILE)) * TILE
    n_batches = max(batches_per_chunk(d), -(-side // BATCH))
    return BATCH * (1 << (n_batches - 1).bit_length())


def vectors_of_chunk(rows: Array, substitute: Any) -> SplitVectors:
    """Return the vectors of a chunk of samples, on one thread."""
    with one_thread():
        return split_vectors(np.ascontiguousarray(rows), substitute)


def gram_of_group(rows: Array, weights: Array | None) -> Array:
    """Return the Gram matrix of some samples, on one thread."""
    with one_thread():
        return group_gram(np.ascontiguousarray(rows), weights)


def norms_of_chunk(vectors: SplitVectors) -> Array:
    """Return the norms of a chunk."""
    return vectors.norms


def piece_of_chunk(vectors: SplitVectors, rows: Array) -> tuple[Array, Array]:
    """Return some of the vectors of a chunk with their corrections."""
    return vectors.vectors[rows], vectors.corrections[rows]


def merged_pieces(origin: Array, pieces: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Return vectors and corrections of a chunk in the order of the search.

    `origin` says which chunk of samples every row comes from; the pieces are in rising order. Both
    halves are made by one task, since Dask would send whole pieces to wherever one half is made.
    """
    vectors, corrections = zip(*pieces, strict=True)
    return in_order(origin, *vectors), in_order(origin, *corrections)


def rows_at(rows: Array, chunk: Array) -> Array:
    """Return some vectors of a chunk, which need not be aligned: NumPy is slow for such numbers."""
    whole = np.ascontiguousarray(chunk).view(np.dtype((np.void, chunk.shape[1] * chunk.itemsize)))
    return whole[rows].view(chunk.dtype).reshape(len(rows), chunk.shape[1])


def in_order(origin: Array, *pieces: Array) -> Array:
    """Return the rows of pieces, where `origin` says in rising numbers which piece a row is of."""
    out = np.empty((len(origin), pieces[0].shape[1]), dtype=pieces[0].dtype)
    for number, piece in zip(np.unique(origin), pieces, strict=True):
        out[origin == number] = piece
    return out


def part_in_chunks(
    part: Part, numbers: list[int], chunk_rows: int, device: str | None, *chunks: Array
) -> PartResult:
    """Return what a part of a search finds, on one thread or on a device.

    `numbers` says which chunks these are: first those of vectors, then those of weights.
    """
    vectors_of = AlignedBlocks(dict(zip(numbers, chunks, strict=False)), chunk_rows)
    weights = dict(zip(numbers, chunks[len(numbers) :], strict=True))
    # Kernels are compiled again for arrays that cannot be written or are not aligned.
    part = part._replace(thresholds={block: t.copy() for block, t in part.thresholds.items()})

    def weights_of(block: int) -> Array:
        number, row = divmod(block * TILE, chunk_rows)
        return weights[number][:, :, row : row + TILE].copy()

    with one_thread():
        if device is None:
            return find_candidates(part, vectors_of, weights_of)
        from dssc.engines.dask.device_parts import find_candidates_on_device

        return find_candidates_on_device(part, vectors_of, weights_of, device)


class AlignedBlocks:
    """Blocks of vectors in chunks; those of chunks that are not aligned are copied.

    What comes from another worker is not aligned. The copies that were used last are kept: at least
    two. Every thread keeps their memory for the next part, since fresh memory takes longer.
    """

    memory = threading.local()

    def __init__(self, chunks: dict[int, Array], chunk_rows: int):
        self.chunks, self.chunk_rows = chunks, chunk_rows
        size = TILE * next(iter(chunks.values())).shape[1]
        if getattr(self.memory, "size", 0) != size:
            n_copies = max(2, min(BLOCKS_TOGETHER, COPIED_BYTES // (4 * size)))
            self.memory.size, self.memory.rows = size, np.empty((n_copies, size), np.float32)
        self.copies: dict[int, Array] = {}  # by their blocks, those used last at the end

    def __call__(self, block: int) -> Array:
        """Return the vectors of a block."""
        number, row = divmod(block * TILE, self.chunk_rows)
        rows = self.chunks[number][row : row + TILE]
        if rows.flags.aligned:
            return rows
        copy = self.copies.pop(block, None)
        if copy is None:
            copy = self._memory()
            copy[: rows.size].reshape(rows.shape)[:] = rows
        self.copies[block] = copy
        return copy[: rows.size].reshape(rows.shape)

    def _memory(self) -> Array:
        """Return memory for a copy, if need be that of the copy that was used first."""
        if len(self.copies) < len(self.memory.rows):
            unused: Array = self.memory.rows[len(self.copies)]
            return unused
        return self.copies.pop(next(iter(self.copies)))


def products_of_chunks(
    places: Array, vectors: Array, rest: Array, others: Array, other_rest: Array
) -> PartResult:
    """Return exact products of pairs of vectors, the first of each from the first chunk."""
    left, right = used_rows(places[0], vectors, rest), used_rows(places[1], others, other_rest)
    out = np.empty(places.shape[1])
    with one_thread():
        kernels.paired_products(*left, *right, out)
    return PartResult.of([out])


def used_rows(places: Array, *chunks: Array) -> list[Array]:
    """Return whole chunks or copies of some of their rows, and where each place is among them.

    Whole chunks are returned if kernels can read them in place. What comes from another worker or
    from disk need not be aligned, or may not be written. A kernel would be compiled again for it,
    perhaps with another order of summation, so rows at the places are copied.
    """
    if all(chunk.flags.behaved for chunk in chunks):
        return [*chunks, places.copy()]
    rows, places = np.unique(places, return_inverse=True)
    return [*(rows_at(rows, chunk) for chunk in chunks), places.astype(np.int32)]


def rows_in_chunk(left: Array, chunk: Array) -> PartResult:
    """Return the products of some vectors with those of a chunk."""
    with one_thread():
        return PartResult.of([product_rows(left, chunk)])


def checked_rows(rows: Array, *chunks: Array) -> PartResult:
    """Return some rows of chunks, with a checksum."""
    return PartResult.of([rows_at(rows, chunk) for chunk in chunks])


_delayed = partial(dask.delayed, pure=False, traverse=False)
delayed_gram, delayed_vectors = _delayed(gram_of_group), _delayed(vectors_of_chunk)
delayed_norms, delayed_piece = _delayed(norms_of_chunk), _delayed(piece_of_chunk)
delayed_half = _delayed(getitem)
delayed_merge = dask.delayed(merged_pieces, pure=False)
