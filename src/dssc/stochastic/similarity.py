"""The similarity matrix K as the projection sees it.

All kinds (dense, sparse, restricted to a pattern, factored) answer the same questions: which
entries to start with, which entries outside a support would be positive in A for given potentials,
and what K is at given places.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy import sparse

from dssc._memory import available_bytes
from dssc._progress import Progress
from dssc._typing import Array
from dssc.stochastic.support import Support, distinct, pattern_at, pattern_of

# Bytes that one entry of a support needs while it is built and solved.
BYTES_PER_ENTRY = 64
NO_PLACES = np.zeros(0, dtype=np.int64)

# Rows and columns of some entries.
Places: TypeAlias = tuple[Array, Array]
# The potentials alpha of the rows and beta of the columns.
Potentials: TypeAlias = tuple[Array, Array]


class Start(NamedTuple):
    """Where a projection starts: a support, potentials or None, and how many rows were read."""

    support: Support
    potentials: Potentials | None
    n_read: int


class MissingEntries(NamedTuple):
    """Entries that a support lacks, and how many rows and columns of K were read to be sure.

    For a symmetric K these are the entries on and above the diagonal.
    """

    rows: Array
    columns: Array
    values: Array
    n_read: int


NOTHING_MISSING = MissingEntries(NO_PLACES, NO_PLACES, np.zeros(0), 0)


class Similarity(ABC):
    """What the active-set loop asks of K."""

    shape: tuple[int, int]
    symmetric: bool

    @property
    @abstractmethod
    def largest(self) -> float:
        """A bound on the absolute values of the entries, close to their largest."""

    def start(
        self,
        eta2: float,
        feasible: Places,
        held: Support | None,
        potentials: Potentials | None,
        progress: Progress,
    ) -> Start:
        """Return where to start, given the support and potentials of an earlier projection."""
        return Start(held or self.first_support(eta2, feasible, progress), potentials, 0)

    @abstractmethod
    def first_support(self, eta2: float, feasible: Places, progress: Progress) -> Support:
        """Return a support that likely holds the positive entries of A, and the `feasible` ones."""

    @abstractmethod
    def missing(
        self, support: Support, potentials: Potentials, eta2: float, progress: Progress
    ) -> MissingEntries:
        """Return entries that the support should hold; none only when it holds all positive ones.

        The support must take in what is returned before it asks again.
        """

    @abstractmethod
    def at(self, rows: Array, columns: Array) -> Array:
        """Return entries of K in float64."""

    @abstractmethod
    def largest_entries(self, count: int, progress: Progress) -> Array:
        """Return the `count` largest entries of each row, in falling order."""


class SparseSimilarity(Similarity):
    """A sparse K, whose absent entries are similarities of zero.

    All stored entries are in every support, so an omitted entry is positive in A exactly where
    ``alpha_i + beta_j < 0``. Sorting beta finds these places without looking at all pairs.
    """

    def __init__(self, K: sparse.csr_array, symmetric: bool):
        self.K = K
        self.shape = K.shape
        self.symmetric = symmetric

    @property
    def largest(self) -> float:
        """The largest absolute value of an entry."""
        return float(np.abs(self.K.data).max(initial=0.0))

    def first_support(self, eta2: float, feasible: Places, progress: Progress) -> Support:
        """Return the stored entries and the feasible ones."""
        pattern = pattern_of(self.K) + pattern_at(*feasible, self.shape)
        if self.symmetric:  # an explicit zero may be stored on one side only
            pattern = pattern + pattern.T
        return filled(pattern, self)

    def missing(
        self, support: Support, potentials: Potentials, eta2: float, progress: Progress
    ) -> MissingEntries:
        """List the pairs of rows and columns whose potentials sum to less than zero."""
        alpha, beta = potentials
        order = np.argsort(beta, kind="stable")
        counts = np.searchsorted(beta[order], -alpha, side="left")
        check_memory(int(counts.sum()), self.shape, eta2)
        rows = np.repeat(np.arange(len(alpha)), counts)
        offsets = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        places = distinct([(rows, order[offsets])], self.shape, self.symmetric)
        rows, columns = support.not_held(*places)
        return MissingEntries(rows, columns, self.at(rows, columns), int(np.count_nonzero(counts)))

    def at(self, rows: Array, columns: Array) -> Array:
        """Return entries of K, zero where none is stored."""
        if len(rows) == 0:
            return np.zeros(0)
        return np.asarray(self.K[rows, columns], dtype=np.float64).ravel()

    def largest_entries(self, count: int, progress: Progress) -> Array:
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

    def first_support(self, eta2: float, feasible: Places, progress: Progress) -> Support:
        """Return the pattern; the feasible entries of the whole problem have no meaning here."""
        return filled(self.pattern, self)

    def missing(
        self, support: Support, potentials: Potentials, eta2: float, progress: Progress
    ) -> MissingEntries:
        """Return nothing: entries outside the pattern are forbidden."""
        return NOTHING_MISSING

    def at(self, rows: Array, columns: Array) -> Array:
        """Return entries of K in float64."""
        return self.whole.at(rows, columns)

    def largest_entries(self, count: int, progress: Progress) -> Array:
        """Return the largest entries of each row of the whole K."""
        return self.whole.largest_entries(count, progress)


def filled(pattern: sparse.csr_array, similarity: Similarity) -> Support:
    """Return the support with a pattern of nonzeros and the similarities there."""
    pattern.sort_indices()
    rows = np.repeat(np.arange(pattern.shape[0], dtype=np.int32), np.diff(pattern.indptr))
    if similarity.symmetric:
        values = _mirrored_values(rows, pattern, similarity)
    else:
        values = similarity.at(rows, pattern.indices)
    matrix = sparse.csr_array((values, pattern.indices, pattern.indptr), shape=pattern.shape)
    return Support(matrix, similarity.symmetric)


def _mirrored_values(rows: Array, pattern: sparse.csr_array, similarity: Similarity) -> Array:
    """Return the values at a symmetric pattern; only the upper half is looked up."""
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


def check_memory(n_entries: float, shape: tuple[int, int], eta2: float) -> None:
    """Refuse a plan that does not fit into memory, before anything is allocated for it."""
    needed = BYTES_PER_ENTRY * n_entries
    available = available_bytes()
    if available is not None and needed > available:
        raise MemoryError(
            f"with eta2={eta2:.3g} the doubly stochastic matrix would hold about {n_entries:.3g} "
            f"of {shape[0]} x {shape[1]} entries ({needed:.3g} bytes to compute, {available:.3g} "
            "available); lower eta2, or add similarities for the points that have none"
        )
