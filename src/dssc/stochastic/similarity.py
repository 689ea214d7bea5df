"""The similarity matrix K as the projection sees it.

All kinds (dense, sparse, on a given pattern, made of products) answer the same questions: which
entries to start with, which entries outside a support would be positive in A for given potentials,
and what K is at given places.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from scipy import sparse

from dssc._memory import available_bytes
from dssc.stochastic.support import Support, distinct, pattern_at, pattern_of

BYTES_PER_ENTRY = 64  # of a support, while it is built and solved
NOWHERE = np.zeros(0, dtype=np.int64)

Places = tuple[np.ndarray, np.ndarray]


class Start(NamedTuple):
    """Where a projection starts: a support, potentials or None, and how much of K was read."""

    support: Support
    potentials: Places | None
    n_read: int


class Missing(NamedTuple):
    """Entries that a support lacks, and how many rows and columns of K were read to be sure.

    Of a symmetric K they are those on and above the diagonal.
    """

    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    n_read: int


NOTHING = Missing(NOWHERE, NOWHERE, np.zeros(0), 0)


class Similarity(ABC):
    """What the active-set loop needs of K."""

    shape: tuple[int, int]
    symmetric: bool

    @property
    @abstractmethod
    def largest(self) -> float:
        """A bound on the entries' absolute values, close to their largest."""

    def start(self, eta2: float, feasible: Places, held: Support | None, potentials) -> Start:
        """Return where to start, given what an earlier projection of K ended with."""
        return Start(held or self.first_support(eta2, feasible), potentials, 0)

    @abstractmethod
    def first_support(self, eta2: float, feasible: Places) -> Support:
        """Return a support that likely holds the positive entries of A, and the `feasible` ones."""

    @abstractmethod
    def missing(self, support: Support, potentials, eta2: float) -> "Missing":
        """Return entries that the support should hold; none only when all positive ones are held.

        The support must take in what is returned before it asks again.
        """

    @abstractmethod
    def at(self, rows, columns) -> np.ndarray:
        """Return K's entries in float64."""

    @abstractmethod
    def largest_entries(self, count: int) -> np.ndarray:
        """Return the `count` largest entries of each row, in falling order."""


class SparseSimilarity(Similarity):
    """A sparse K, whose absent entries are similarities of zero.

    All stored entries are in every support, so an omitted entry is positive in A exactly where
    ``alpha_i + beta_j < 0``: sorting beta finds those without looking at all pairs.
    """

    def __init__(self, K: sparse.csr_array):
        self.K = K
        self.shape = K.shape
        self.symmetric = K.shape[0] == K.shape[1] and (K != K.T).nnz == 0

    @property
    def largest(self) -> float:
        """The largest absolute value of an entry."""
        return float(np.abs(self.K.data).max(initial=0.0))

    def first_support(self, eta2: float, feasible: Places) -> Support:
        """Return the stored entries and the feasible ones."""
        pattern = pattern_of(self.K) + pattern_at(*feasible, self.shape)
        if self.symmetric:  # an explicit zero may be stored on one side only
            pattern = pattern + pattern.T
        return filled(pattern, self)

    def missing(self, support, potentials, eta2):
        """List the pairs of rows and columns whose potentials sum to less than zero."""
        alpha, beta = potentials
        order = np.argsort(beta, kind="stable")
        counts = np.searchsorted(beta[order], -alpha, side="left")
        check_fits(int(counts.sum()), self.shape, eta2)
        rows = np.repeat(np.arange(len(alpha)), counts)
        offsets = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        places = distinct([(rows, order[offsets])], self.shape, self.symmetric)
        rows, columns = support.not_held(*places)
        return Missing(rows, columns, self.at(rows, columns), int(np.count_nonzero(counts)))

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


class RestrictedSimilarity(Similarity):
    """A similarity of which A may use the entries of one pattern only, (support_primal)."""

    def __init__(self, similarity: Similarity, pattern: sparse.csr_array):
        self.whole = similarity
        self.pattern = pattern
        self.shape = similarity.shape
        self.symmetric = similarity.symmetric and (pattern != pattern.T).nnz == 0

    @property
    def largest(self) -> float:
        """The bound for the whole K."""
        return self.whole.largest

    def first_support(self, eta2: float, feasible: Places) -> Support:
        """Return the pattern; the feasible entries of the whole problem have no meaning here."""
        return filled(self.pattern, self)

    def missing(self, support, potentials, eta2):
        """Return nothing: what lies outside is forbidden."""
        return NOTHING

    def at(self, rows, columns):
        """Return K's entries in float64."""
        return self.whole.at(rows, columns)

    def largest_entries(self, count):
        """Return the largest entries of each row of the whole K."""
        return self.whole.largest_entries(count)


def filled(pattern: sparse.csr_array, similarity: Similarity) -> Support:
    """Return the support with a pattern of nonzeros and the similarities there."""
    pattern.sort_indices()
    rows = np.repeat(np.arange(pattern.shape[0], dtype=np.int32), np.diff(pattern.indptr))
    if similarity.symmetric:
        values = _mirrored(rows, pattern, similarity)
    else:
        values = similarity.at(rows, pattern.indices)
    matrix = sparse.csr_array((values, pattern.indices, pattern.indptr), shape=pattern.shape)
    return Support(matrix, similarity.symmetric)


def _mirrored(rows, pattern, similarity):
    """Return the values at a symmetric pattern, of which one half is looked up."""
    upper = np.flatnonzero(rows <= pattern.indices)
    values = np.empty(pattern.nnz)
    values[upper] = similarity.at(rows[upper], pattern.indices[upper])
    numbers = sparse.csr_array(
        (np.arange(pattern.nnz), pattern.indices, pattern.indptr), shape=pattern.shape
    )
    mirror = numbers.T.tocsr().data  # where the entry stands on the other side of the diagonal
    lower = np.flatnonzero(rows > pattern.indices)
    values[lower] = values[mirror[lower]]
    return values


def check_fits(n_entries: float, shape, eta2: float) -> None:
    """Refuse a plan that cannot be held in memory, before anything is allocated for it."""
    needed = BYTES_PER_ENTRY * n_entries
    available = available_bytes()
    if available is not None and needed > available:
        raise MemoryError(
            f"with eta2={eta2:.3g} the doubly stochastic matrix would hold about {n_entries:.3g} "
            f"of {shape[0]} x {shape[1]} entries ({needed:.3g} bytes to compute, {available:.3g} "
            "available); lower eta2, or add similarities for the points that have none"
        )
