"""Parts of a search on the workers of a cluster."""

from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import numpy as np

from dssc._typing import Array
from dssc.expression import single_vectors
from dssc.features import homogeneous
from dssc.stochastic.scan_parts import (
    TILE,
    Part,
    PartResult,
    PointBounds,
    blocks_per_side,
    find_candidates_alone,
)

# Parts that wait for each thread of a worker.
PARTS_PER_THREAD = 3
# Times that a part is computed at most before its result must be intact.
ATTEMPTS = 3


class WorkerRunner:
    """Finds the candidates of parts on the workers of a `distributed` client.

    Implements `dssc.stochastic.scan_parts.Runner`. Workers compute the vectors from the chunks of X
    and keep them; if a worker is lost, others compute its vectors and its parts again.

    Parameters
    ----------
    client : distributed.Client
        The client.
    X : dask.array.Array of shape (n_points, n_features)
        The points, without their constant coordinate.
    height : float or None
        The constant coordinate.
    substitute : callable
        Makes vectors of points; see `LeastSquaresFactor`.
    order : ndarray of shape (n_points,)
        The order of the vectors in the search.

    Attributes
    ----------
    n_done, n_repeated, n_bytes : int
        Parts that were computed, those among them whose result was damaged on its way and which
        were computed again, and the size of the results.
    """

    def __init__(
        self,
        client: Any,
        X: Any,
        height: float | None,
        substitute: Callable[[Array], Array],
        order: Array,
    ):
        self.client, self.search = client, uuid4().hex[:8]
        self.blocks_per_chunk = blocks_per_side(-(-len(order) // TILE))
        rows = self.blocks_per_chunk * TILE
        X = X.rechunk({0: rows})
        vectors = X.map_blocks(
            vectors_of_chunk,
            height=height,
            substitute=substitute,
            dtype=np.float32,
            chunks=(X.chunks[0], (X.shape[1] + (height is not None),)),
            name=f"dssc-vectors-{self.search}",
            meta=np.empty((0, 0), dtype=np.float32),
        )
        shuffled = vectors[order].rechunk({0: rows})
        self.chunks = client.compute(list(shuffled.to_delayed().ravel()), retries=ATTEMPTS)
        self.n_done = self.n_repeated = self.n_bytes = 0

    def __call__(
        self, parts: list[Part], points: PointBounds, signed: bool
    ) -> Iterator[tuple[Part, PartResult]]:
        """Yield every part with its intact result, in the order in which they arrive."""
        from distributed import as_completed

        n_threads = sum(self.client.nthreads().values())
        waiting, attempts = list(reversed(parts)), dict.fromkeys((p.name for p in parts), 0)
        part_of: dict[str, Part] = {}

        def submit() -> Any:
            part = waiting.pop()
            attempts[part.name] += 1
            future = self._submit(part, attempts[part.name], points, signed)
            part_of[future.key] = part
            return future

        first = min(len(waiting), max(1, PARTS_PER_THREAD * n_threads))
        arriving = as_completed([submit() for _ in range(first)])
        for future in arriving:
            part, result = part_of.pop(future.key), future.result()
            self.n_done += 1
            if result.is_intact:
                self.n_bytes += len(result.content)
            else:
                self._check_attempts(part, attempts[part.name])
                self.n_repeated += 1
                waiting.append(part)
            if waiting:
                arriving.add(submit())
            if result.is_intact:
                yield part, result

    def _submit(self, part: Part, attempt: int, points: PointBounds, signed: bool) -> Any:
        numbers = sorted({block // self.blocks_per_chunk for block in part.blocks})
        return self.client.submit(
            find_candidates_alone,
            part.meetings,
            numbers,
            points.of_blocks(part.blocks),
            signed,
            self.blocks_per_chunk,
            *(self.chunks[number] for number in numbers),
            key=f"dssc-scan-{self.search}-{part.name}-{attempt}",
            retries=ATTEMPTS,
        )

    @staticmethod
    def _check_attempts(part: Part, n_attempts: int) -> None:
        if n_attempts >= ATTEMPTS:
            raise RuntimeError(
                f"part {part.name} of the search came back damaged {n_attempts} times: its "
                "checksum does not match; check the memory and the network of the workers"
            )


def vectors_of_chunk(
    rows: Array, height: float | None, substitute: Callable[[Array], Array]
) -> Array:
    """Return the vectors of a chunk of points."""
    points = rows if height is None else homogeneous(rows, height)
    return single_vectors(np.ascontiguousarray(points), substitute)
