"""Pairs that are read again after the search, on the workers that hold their vectors."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from dssc._threads import one_thread
from dssc._typing import Array
from dssc.engines.dask.factor import ClusterFactor, rows_at
from dssc.engines.dask.workers import Task
from dssc.stochastic.panels import SPAN, Panels, Side, pairs_above
from dssc.stochastic.scan_parts import PartResult
from dssc.stochastic.similarity import Places

# The columns of panels with vectors in the same chunks: their numbers, the chunks, their sides.
Columns = tuple[list[int], list[int], Any]


class ClusterReader:
    """Reads panels on the workers of a `ClusterFactor`. Implements `dssc.stochastic.panels.Reader`.

    The vectors of the rows travel between workers, those of the columns stay in their chunks. Only
    pairs that may be above come here.
    """

    def __init__(self, factor: ClusterFactor):
        self.factor = factor

    def __call__(self, _: Any, panels: Panels) -> Iterator[Places]:
        """Yield the pairs of every panel that may be above the sum of their potentials."""
        tasks = self._tasks(panels)
        for _, result in self.factor.workers.run(lambda: next(tasks, None)):
            rows, columns = np.frombuffer(result.content, np.int64).reshape(2, -1)
            yield rows, columns

    def _tasks(self, panels: Panels) -> Iterator[Task]:
        """Yield a task for each side of rows and all columns in the same chunks."""
        factor = self.factor
        columns = [self._held(panels, numbers) for numbers in self._by_chunks(panels)]
        for i, (rows, n_rows) in enumerate(zip(panels.rows, panels.n_rows, strict=True)):
            left = factor.gathered(rows.places)
            held = factor.workers.hold("rows", rows)
            for numbers, chunks, sides in columns:
                if not np.any(n_rows[numbers]):
                    continue
                about = n_rows[numbers], panels.signed, chunks, factor.chunk_rows
                vectors = (factor.chunks[chunk] for chunk in chunks)
                name = f"read {i}-{numbers[0]}"
                yield Task(name, panels_of_chunks, (left, held, sides, *about, *vectors))

    def _by_chunks(self, panels: Panels) -> list[list[int]]:
        """Return numbers of panels of columns, those with vectors in the same chunks together."""
        together = max(SPAN, self.factor.chunk_rows)
        where = [side.places[0] // together for side in panels.columns]
        return [np.flatnonzero(where == place).tolist() for place in np.unique(where)]

    def _held(self, panels: Panels, numbers: list[int]) -> Columns:
        sides = [panels.columns[number] for number in numbers]
        places = np.concatenate([side.places for side in sides])
        chunks = np.unique(places // self.factor.chunk_rows).tolist()
        return numbers, chunks, self.factor.workers.hold("columns", sides)


def panels_of_chunks(
    left: Array,
    rows: Side,
    columns: list[Side],
    n_rows: Array,
    signed: bool,
    numbers: list[int],
    chunk_rows: int,
    *chunks: Array,
) -> PartResult:
    """Return the pairs above of the first `n_rows` rows and each of some panels of columns.

    `left` holds the vectors of the rows, and `numbers` says which chunks of vectors these are.
    """
    of_number = dict(zip(numbers, chunks, strict=True))
    rows = copied(rows)
    pairs = []
    with one_thread():
        for side, count in zip(columns, n_rows, strict=True):
            right = np.empty((len(side.places), left.shape[1]), dtype=np.float32)
            chunk_of, inside = np.divmod(side.places, chunk_rows)
            for number in np.unique(chunk_of):
                own = chunk_of == number
                right[own] = rows_at(inside[own], of_number[number])
            pairs.append(pairs_above(left[:count], rows.first(count), right, copied(side), signed))
    return PartResult.of(list(np.concatenate(pairs, axis=1)))


def copied(side: Side) -> Side:
    """Return arrays that can be written and are aligned, for which kernels are compiled already."""
    return Side(*(array.copy() for array in side))
