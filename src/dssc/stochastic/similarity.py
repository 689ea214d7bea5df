"""The similarity matrix K as the projection sees it, dense or sparse.

Both kinds answer the same three questions: which entries to start with, which entries outside a
support would be positive in A for given potentials, and what K is at given places.
"""

import os
from types import ModuleType
from typing import Protocol

import numpy as np
from scipy import sparse

from dssc.stochastic.support import Support, csr, merged

# Below this size a dense K is its own support: selecting entries would cost more than it saves.
SMALL = 256
FIRST_NEIGHBORS = 64
BLOCK = 1 << 22  # entries read at once
_EMPTY = np.zeros(0, dtype=np.int64)


class Similarity(Protocol):
    """What the active-set loop needs of K."""

    n: int
    symmetric: bool
    largest: float

    def first_support(self, eta2: float) -> Support:
        """Return a support that likely holds the positive entries of A."""

    def missing(self, support: Support, potentials) -> tuple[np.ndarray, np.ndarray, int]:
        """Return rows and columns of all entries off the support that are positive in A.

        The third value is how many rows and columns of K had to be read to be sure.
        """

    def at(self, rows, columns) -> np.ndarray:
        """Return K's entries in float64."""

    def largest_entries(self, count: int) -> np.ndarray:
        """Return the `count` largest entries of each row off the diagonal, in falling order."""


class DenseSimilarity:
    """A dense K, of which the solver sees the largest entries of every row and column.

    With t_i the smallest kept similarity of row i and u_j that of column j, an omitted entry obeys
    ``K_ij <= min(t_i, u_j) <= (t_i + u_j) / 2``. So where ``t_i <= 2 (alpha_i + c)`` and
    ``u_j <= 2 (beta_j - c)``, for any one c, row i and column j miss nothing; the others are read.
    """

    def __init__(self, K: np.ndarray, k: ModuleType):
        self.K = np.ascontiguousarray(K)
        self.n = len(K)
        self.k = k
        self.symmetric = _is_symmetric(self.K)
        self.largest = max(float(K.max()), -float(K.min()))
        self.bounds: tuple[np.ndarray, np.ndarray] | None = None  # None: nothing is omitted

    def first_support(self, eta2: float) -> Support:
        """Return the largest entries of each row and column, and the diagonal."""
        n_kept = FIRST_NEIGHBORS
        while self.n > SMALL and 3 * n_kept < self.n:
            values, columns = self._top(self.K, n_kept)
            bounds = values.min(axis=1)
            # A row whose kept entries lie too close together to hold its mass needs more of them.
            if np.mean((values - bounds[:, None]).sum(axis=1) < eta2) <= 0.25:
                return self._support_of(columns, bounds, n_kept)
            n_kept *= 4
        every = sparse.csr_array(np.ones((self.n, self.n), dtype=bool))
        return self._filled(every)

    def _support_of(self, columns, bounds, n_kept):
        pattern = _pattern(columns)
        if self.symmetric:
            self.bounds = bounds, bounds
            pattern = pattern + pattern.T
        else:
            values, rows = self._top(self.K.T, n_kept)
            self.bounds = bounds, values.min(axis=1)
            pattern = pattern + _pattern(rows).T
        return self._filled(pattern + sparse.eye_array(self.n, dtype=bool, format="csr"))

    def _top(self, K, n_kept):
        values = np.empty((self.n, n_kept), dtype=K.dtype)
        columns = np.empty((self.n, n_kept), dtype=np.int32)
        self.k.top_k(np.ascontiguousarray(K), n_kept, values, columns)
        return values.astype(np.float64, copy=False), columns

    def _filled(self, pattern):
        rows, columns = pattern.nonzero()
        return Support(csr(rows, columns, self.at(rows, columns), self.n), self.symmetric)

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
        found = [_above(self.K, rows, alpha, beta) for rows in _blocks(open_rows, self.n)]
        if not self.symmetric:
            n_read += len(open_columns)
            found += [
                _above(self.K.T, columns, beta, alpha)[::-1]
                for columns in _blocks(open_columns, self.n)
            ]
        return *_not_held(support, found), n_read

    def at(self, rows, columns):
        """Return K's entries in float64."""
        return self.K[rows, columns].astype(np.float64, copy=False)

    def largest_entries(self, count):
        """Return the largest entries of each row off the diagonal, sorted."""
        return -np.sort(-self._top(self.K, count)[0], axis=1)


class SparseSimilarity:
    """A sparse K, whose absent entries are similarities of zero.

    All stored entries are in every support, so an omitted entry is positive in A exactly where
    ``alpha_i + beta_j < 0``: sorting beta finds those without looking at n x n pairs.
    """

    def __init__(self, K: sparse.csr_array):
        K = sparse.csr_array(K, dtype=np.float64)
        K.sum_duplicates()  # sorts the rows too
        self.K = K
        self.n = K.shape[0]
        self.symmetric = (K != K.T).nnz == 0
        self.largest = float(np.abs(K.data).max(initial=0.0))

    def first_support(self, eta2: float) -> Support:
        """Return the stored entries and the diagonal."""
        K = self.K
        absent = np.flatnonzero(~_held(K, np.arange(self.n), np.arange(self.n)))
        diagonal = csr(absent, absent, np.zeros(len(absent)), self.n)
        K = merged(K, diagonal)
        if self.symmetric:
            # An explicit zero may be stored on one side only.
            rows, columns = (_ones(K) + _ones(K).T).nonzero()
            K = csr(rows, columns, self.at(rows, columns), self.n)
        return Support(K, self.symmetric)

    def missing(self, support, potentials):
        """List the pairs of rows and columns whose potentials sum to less than zero."""
        alpha, beta = potentials
        order = np.argsort(beta, kind="stable")
        counts = np.searchsorted(beta[order], -alpha, side="left")
        _check_fits(int(counts.sum()), self.n)
        rows = np.repeat(np.arange(self.n), counts)
        offsets = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        return *_not_held(support, [(rows, order[offsets])]), int(np.count_nonzero(counts))

    def at(self, rows, columns):
        """Return K's entries, zero where none is stored."""
        if len(rows) == 0:
            return np.zeros(0)
        return np.asarray(self.K[rows, columns], dtype=np.float64).ravel()

    def largest_entries(self, count):
        """Return the largest entries of each row off the diagonal, absent zeros among them."""
        top = np.zeros((self.n, count))
        for i in range(self.n):
            entries = slice(self.K.indptr[i], self.K.indptr[i + 1])
            row = np.delete(self.K.data[entries], self.K.indices[entries] == i)
            n_absent = min(self.n - 1 - len(row), count)
            top[i] = -np.sort(-np.append(row, np.zeros(n_absent)))[:count]
        return top


def _is_symmetric(K, tile=512):
    starts = range(0, len(K), tile)
    return all(
        np.array_equal(K[i : i + tile, j : j + tile], K[j : j + tile, i : i + tile].T)
        for i in starts
        for j in range(i, len(K), tile)
    )


def _pattern(columns):
    n, k = columns.shape
    indptr = np.arange(0, n * k + 1, k)
    return sparse.csr_array((np.ones(n * k, dtype=bool), columns.ravel(), indptr), shape=(n, n))


def _ones(K):
    return sparse.csr_array((np.ones(K.nnz, dtype=bool), K.indices, K.indptr), shape=K.shape)


def _blocks(rows, n):
    """Cut an array of rows into blocks that read about BLOCK entries."""
    size = max(1, BLOCK // n)
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def _above(K, rows, alpha, beta):
    at, columns = np.nonzero(K[rows] > alpha[rows, None] + beta[None, :])
    return rows[at], columns


def _not_held(support, found):
    """Return the found places that `support` does not hold, each once."""
    if not found:
        return _EMPTY, _EMPTY
    n = support.matrix.shape[0]
    rows, columns = (np.concatenate(parts) for parts in zip(*found, strict=True))
    if support.symmetric:
        rows, columns = np.concatenate([rows, columns]), np.concatenate([columns, rows])
    rows, columns = np.divmod(np.unique(rows.astype(np.int64) * n + columns), n)
    new = ~_held(support.matrix, rows, columns)
    return rows[new], columns[new]


def _held(K, rows, columns):
    """Return which places are stored in a CSR matrix with sorted rows."""
    n = K.shape[1]
    keys = np.repeat(np.arange(K.shape[0]), np.diff(K.indptr)) * n + K.indices
    wanted = rows * n + columns
    position = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    return keys[position] == wanted if len(keys) else np.zeros(len(wanted), dtype=bool)


def _check_fits(n_entries: int, n: int) -> None:
    """Refuse a plan that cannot be held in memory, before anything is allocated for it."""
    needed = 64 * n_entries
    available = _available_bytes()
    if available is not None and needed > available:
        raise MemoryError(
            f"the doubly stochastic matrix would hold about {n_entries:.3g} of {n}^2 entries "
            f"({needed / 1e9:.1f} GB to compute, {available / 1e9:.1f} GB free); lower eta2, or "
            "add similarities for the points that have none"
        )


def _available_bytes() -> int | None:
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None
