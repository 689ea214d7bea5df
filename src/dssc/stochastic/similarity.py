"""The similarity matrix K as the projection sees it: dense, sparse, or on a given pattern.

All kinds answer the same questions: which entries to start with, which entries outside a support
would be positive in A for given potentials, and what K is at given places.
"""

import os
from types import ModuleType
from typing import Protocol

import numpy as np
from scipy import sparse

from dssc.stochastic.support import Support, pattern_at, pattern_of

# Below this size a dense K is its own support: selecting entries would cost more than it saves.
SMALL = 256
FIRST_NEIGHBORS = 64
BLOCK = 1 << 22  # entries read at once
_EMPTY = np.zeros(0, dtype=np.int64)

Places = tuple[np.ndarray, np.ndarray]


class Similarity(Protocol):
    """What the active-set loop needs of K."""

    shape: tuple[int, int]
    symmetric: bool
    largest: float

    def first_support(self, eta2: float, feasible: Places) -> Support:
        """Return a support that likely holds the positive entries of A, and the `feasible` ones."""

    def missing(self, support: Support, potentials) -> tuple[np.ndarray, np.ndarray, int]:
        """Return rows and columns of all entries off the support that are positive in A.

        The third value is how many rows and columns of K had to be read to be sure.
        """

    def at(self, rows, columns) -> np.ndarray:
        """Return K's entries in float64."""

    def largest_entries(self, count: int) -> np.ndarray:
        """Return the `count` largest entries of each row, in falling order."""


class DenseSimilarity:
    """A dense K, of which the solver sees the largest entries of every row and column.

    With t_i the smallest kept similarity of row i and u_j that of column j, an omitted entry obeys
    ``K_ij <= min(t_i, u_j) <= (t_i + u_j) / 2``. So where ``t_i <= 2 (alpha_i + c)`` and
    ``u_j <= 2 (beta_j - c)``, for any one c, row i and column j miss nothing; the others are read.
    """

    def __init__(self, K: np.ndarray, k: ModuleType):
        self.K = np.ascontiguousarray(K)
        self.shape = K.shape
        self.k = k
        self.symmetric = _is_symmetric(self.K)
        self.largest = max(float(K.max()), -float(K.min()))
        self.bounds: tuple[np.ndarray, np.ndarray] | None = None  # None: nothing is omitted

    def first_support(self, eta2: float, feasible: Places) -> Support:
        """Return the largest entries of each row and column, and the feasible ones."""
        n_kept = FIRST_NEIGHBORS
        while min(self.shape) > SMALL and 3 * n_kept < min(self.shape):
            values, columns = self._top(self.k.top_k, self.shape[0], n_kept)
            bounds = values.min(axis=1)
            # A row whose kept entries lie too close together to hold its mass needs more of them.
            if np.mean((values - bounds[:, None]).sum(axis=1) < eta2) <= 0.25:
                return self._support_of(columns, bounds, n_kept, feasible)
            n_kept *= 4
        return filled(sparse.csr_array(np.ones(self.shape, dtype=bool)), self)

    def _support_of(self, columns, bounds, n_kept, feasible):
        pattern = _pattern(columns, self.shape)
        if self.symmetric:
            self.bounds = bounds, bounds
            pattern = pattern + pattern.T
        else:
            values, rows = self._top(self.k.top_k_columns, self.shape[1], n_kept)
            self.bounds = bounds, values.min(axis=1)
            pattern = pattern + _pattern(rows, self.shape[::-1]).T
        return filled(pattern + pattern_at(feasible[0], feasible[1], self.shape), self)

    def _top(self, kernel, length, n_kept):
        values = np.empty((length, n_kept), dtype=self.K.dtype)
        places = np.empty((length, n_kept), dtype=np.int32)
        kernel(self.K, n_kept, values, places)
        return values.astype(np.float64, copy=False), places

    def missing(self, support, potentials):
        """Read the rows and columns that the bounds leave open."""
        if self.bounds is None:
            return _EMPTY, _EMPTY, 0
        alpha, beta = potentials
        row_need = self.bounds[0] / 2 - alpha
        column_need = self.bounds[1] / 2 - beta
        c = 0.0 if self.symmetric else (np.median(row_need) - np.median(column_need)) / 2
        open_rows = np.flatnonzero(row_need > c)
        open_columns = np.flatnonzero(column_need > -c)
        n_read = len(open_rows)
        found = [_above(self.K, rows, alpha, beta) for rows in _blocks(open_rows, self.shape[1])]
        if not self.symmetric:
            n_read += len(open_columns)
            found += [
                _above(self.K.T, columns, beta, alpha)[::-1]
                for columns in _blocks(open_columns, self.shape[0])
            ]
        return *_not_held(support, found), n_read

    def at(self, rows, columns):
        """Return K's entries in float64."""
        return self.K[rows, columns].astype(np.float64, copy=False)

    def largest_entries(self, count):
        """Return the largest entries of each row, sorted."""
        return -np.sort(-self._top(self.k.top_k, self.shape[0], count)[0], axis=1)


class SparseSimilarity:
    """A sparse K, whose absent entries are similarities of zero.

    All stored entries are in every support, so an omitted entry is positive in A exactly where
    ``alpha_i + beta_j < 0``: sorting beta finds those without looking at all pairs.
    """

    def __init__(self, K: sparse.csr_array):
        self.K = K
        self.shape = K.shape
        self.symmetric = K.shape[0] == K.shape[1] and (K != K.T).nnz == 0
        self.largest = float(np.abs(K.data).max(initial=0.0))

    def first_support(self, eta2: float, feasible: Places) -> Support:
        """Return the stored entries and the feasible ones."""
        pattern = pattern_of(self.K) + pattern_at(*feasible, self.shape)
        if self.symmetric:  # an explicit zero may be stored on one side only
            pattern = pattern + pattern.T
        return filled(pattern, self)

    def missing(self, support, potentials):
        """List the pairs of rows and columns whose potentials sum to less than zero."""
        alpha, beta = potentials
        order = np.argsort(beta, kind="stable")
        counts = np.searchsorted(beta[order], -alpha, side="left")
        _check_fits(int(counts.sum()), self.shape)
        rows = np.repeat(np.arange(len(alpha)), counts)
        offsets = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        return *_not_held(support, [(rows, order[offsets])]), int(np.count_nonzero(counts))

    def at(self, rows, columns):
        """Return K's entries, zero where none is stored."""
        if len(rows) == 0:
            return np.zeros(0)
        return np.asarray(self.K[rows, columns], dtype=np.float64).ravel()

    def largest_entries(self, count):
        """Return the largest entries of each row, absent zeros among them."""
        top = np.zeros((self.shape[0], count))
        for i in range(self.shape[0]):
            row = self.K.data[self.K.indptr[i] : self.K.indptr[i + 1]]
            n_absent = min(self.shape[1] - len(row), count)
            top[i] = -np.sort(-np.append(row, np.zeros(n_absent)))[:count]
        return top


class RestrictedSimilarity:
    """A similarity of which A may use the entries of one pattern only, (support_primal)."""

    def __init__(self, similarity: Similarity, pattern: sparse.csr_array):
        self.whole = similarity
        self.pattern = pattern
        self.shape = similarity.shape
        self.symmetric = similarity.symmetric and (pattern != pattern.T).nnz == 0
        self.largest = similarity.largest

    def first_support(self, eta2: float, feasible: Places) -> Support:
        """Return the pattern; the feasible entries of the whole problem have no meaning here."""
        return filled(self.pattern, self)

    def missing(self, support, potentials):
        """Return nothing: what lies outside is forbidden."""
        return _EMPTY, _EMPTY, 0

    def at(self, rows, columns):
        """Return K's entries in float64."""
        return self.whole.at(rows, columns)

    def largest_entries(self, count):
        """Return the largest entries of each row of the whole K."""
        return self.whole.largest_entries(count)


def filled(pattern: sparse.csr_array, similarity: Similarity) -> Support:
    """Return the support with a pattern of nonzeros and the similarities there."""
    pattern.sort_indices()
    rows = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
    values = similarity.at(rows, pattern.indices)
    matrix = sparse.csr_array((values, pattern.indices, pattern.indptr), shape=pattern.shape)
    return Support(matrix, similarity.symmetric)


def _is_symmetric(K, tile=512):
    if K.shape[0] != K.shape[1]:
        return False
    return all(
        np.array_equal(K[i : i + tile, j : j + tile], K[j : j + tile, i : i + tile].T)
        for i in range(0, len(K), tile)
        for j in range(i, len(K), tile)
    )


def _pattern(columns, shape):
    n, k = columns.shape
    indptr = np.arange(0, n * k + 1, k)
    return sparse.csr_array((np.ones(n * k, dtype=bool), columns.ravel(), indptr), shape=shape)


def _blocks(rows, width):
    """Cut an array of rows into blocks that read about BLOCK entries."""
    size = max(1, BLOCK // width)
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def _above(K, rows, alpha, beta):
    at, columns = np.nonzero(K[rows] > alpha[rows, None] + beta[None, :])
    return rows[at], columns


def _not_held(support, found):
    """Return the found places that `support` does not hold, each once."""
    if not found:
        return _EMPTY, _EMPTY
    width = support.matrix.shape[1]
    rows, columns = (np.concatenate(parts) for parts in zip(*found, strict=True))
    if support.symmetric:
        rows, columns = np.concatenate([rows, columns]), np.concatenate([columns, rows])
    rows, columns = np.divmod(np.unique(rows.astype(np.int64) * width + columns), width)
    new = ~_held(support.matrix, rows, columns)
    return rows[new], columns[new]


def _held(K, rows, columns):
    """Return which places are stored in a CSR matrix with sorted rows."""
    width = K.shape[1]
    keys = np.repeat(np.arange(K.shape[0]), np.diff(K.indptr)) * width + K.indices
    wanted = rows * width + columns
    position = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return keys[position] == wanted


def _check_fits(n_entries: int, shape) -> None:
    """Refuse a plan that cannot be held in memory, before anything is allocated for it."""
    needed = 64 * n_entries
    available = _available_bytes()
    if available is not None and needed > available:
        raise MemoryError(
            f"the doubly stochastic matrix would hold about {n_entries:.3g} of {shape[0]} x "
            f"{shape[1]} entries ({needed / 1e9:.1f} GB to compute, {available / 1e9:.1f} GB free);"
            " lower eta2, or add similarities for the points that have none"
        )


def _available_bytes() -> int | None:
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None
