"""A dense similarity matrix, of which the projection holds the largest entries."""

from collections.abc import Callable, Iterator
from functools import cached_property

import numpy as np
from scipy import sparse

from dssc import kernels
from dssc._progress import Progress
from dssc._typing import Array
from dssc.stochastic.bounded_similarity import Area, BoundedSimilarity
from dssc.stochastic.similarity import Places, Potentials, filled
from dssc.stochastic.support import Support, pattern_at

# Below this size a dense K is its own support: selecting entries would cost more than it saves.
SMALL_SIZE = 256
# Entries of each row that a first support holds.
FIRST_NEIGHBORS = 64
# Largest share of rows whose kept entries may be too few to hold their mass.
SHORT_ROWS = 0.25
# Entries of K that are read at once.
BLOCK_ENTRIES = 1 << 22


class DenseSimilarity(BoundedSimilarity):
    """A dense K."""

    def __init__(self, K: Array, symmetric: bool):
        self.K = np.ascontiguousarray(K)
        self.shape = K.shape
        self.symmetric = symmetric

    @cached_property
    def largest(self) -> float:
        """The largest absolute value of an entry."""
        return max(float(self.K.max()), -float(self.K.min()))

    def first_support(self, eta2: float, feasible: Places, progress: Progress) -> Support:
        """Return the largest entries of each row and column, and the feasible ones."""
        n_kept = FIRST_NEIGHBORS
        while min(self.shape) > SMALL_SIZE and 3 * n_kept < min(self.shape):
            values, columns = self._top(kernels.top_k, self.shape[0], n_kept)
            bounds = values.min(axis=1)
            # A row whose kept entries lie too close together to hold its mass needs more of them.
            is_short = (values - bounds[:, None]).sum(axis=1) < eta2
            if np.mean(is_short) <= SHORT_ROWS:
                return self._support_of(columns, bounds, n_kept, feasible)
            n_kept *= 4
        return filled(sparse.csr_array(np.ones(self.shape, dtype=bool)), self)

    def _support_of(
        self, columns: Array, row_bounds: Array, n_kept: int, feasible: Places
    ) -> Support:
        pattern = _pattern(columns, self.shape)
        if self.symmetric:
            self.bounds = row_bounds, row_bounds
            pattern = pattern + pattern.T
        else:
            values, rows = self._top(kernels.top_k_columns, self.shape[1], n_kept)
            self.bounds = row_bounds, values.min(axis=1)
            pattern = pattern + _pattern(rows, self.shape[::-1]).T
        return filled(pattern + pattern_at(feasible[0], feasible[1], self.shape), self)

    def _top(self, kernel: Callable, length: int, n_kept: int) -> tuple[Array, Array]:
        values = np.empty((length, n_kept), dtype=self.K.dtype)
        places = np.empty((length, n_kept), dtype=np.int32)
        kernel(self.K, n_kept, values, places)
        return values.astype(np.float64, copy=False), places

    def area_above(self, area: Area, potentials: Potentials) -> Iterator[Places]:
        """Yield the places in an area that are above the sum of the potentials."""
        alpha, beta = potentials
        columns = np.flatnonzero(area.columns)
        for block in _blocks(np.flatnonzero(area.rows), len(columns)):
            sums = alpha[block, None] + beta[columns]
            r, c = np.nonzero(self.K[np.ix_(block, columns)] > sums)
            yield block[r], columns[c]

    def at(self, rows: Array, columns: Array) -> Array:
        """Return entries of K in float64."""
        return self.K[rows, columns].astype(np.float64, copy=False)

    def largest_entries(self, count: int, progress: Progress) -> Array:
        """Return the largest entries of each row, sorted."""
        return -np.sort(-self._top(kernels.top_k, self.shape[0], count)[0], axis=1)


def is_symmetric(K: Array, tile: int = 512) -> bool:
    """Return whether an array is exactly symmetric, compared tile by tile."""
    if K.shape[0] != K.shape[1]:
        return False
    return all(
        np.array_equal(K[i : i + tile, j : j + tile], K[j : j + tile, i : i + tile].T)
        for i in range(0, len(K), tile)
        for j in range(i, len(K), tile)
    )


def _pattern(columns: Array, shape: tuple[int, int]) -> sparse.csr_array:
    """Return the pattern with the same number of entries in every row."""
    n, k = columns.shape
    indptr = np.arange(0, n * k + 1, k)
    return sparse.csr_array((np.ones(n * k, dtype=bool), columns.ravel(), indptr), shape=shape)


def _blocks(rows: Array, width: int) -> list[Array]:
    """Cut an array of rows into blocks that read about BLOCK_ENTRIES entries."""
    size = max(1, BLOCK_ENTRIES // max(1, width))
    return [rows[start : start + size] for start in range(0, len(rows), size)]
