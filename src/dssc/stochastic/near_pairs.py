"""The pairs of points that are connected in A, or nearly so: all that proofs about A need.

A proof that two points are not connected needs their similarity only if it is close to the sum of
their potentials. For all other pairs a bound is enough. So a fit without an n x n matrix keeps the
near pairs, and what is asked later needs no second search of all similarities.
"""

from dataclasses import dataclass
from functools import cached_property, singledispatch

import numpy as np
from scipy import sparse

from dssc._progress import Progress
from dssc._typing import Array
from dssc.stochastic.bounded_similarity import Area, lowered_by
from dssc.stochastic.dense_similarity import DenseSimilarity
from dssc.stochastic.factored_similarity import FactoredSimilarity
from dssc.stochastic.similarity import Places, RestrictedSimilarity, Similarity, SparseSimilarity
from dssc.stochastic.support import Support, distinct

# Entries of A below zero by less than this are near, the first of these that gives few pairs.
DENSE_MARGINS = (np.inf, 1.0, 0.25, 0.05, 0.01, 0.0)
FACTORED_MARGINS = (0.05, 0.01, 0.0)
# Few pairs: at most this many per point.
MOST_PER_POINT = 128
# Similarities that are computed again for a margin: at most this share of all of them.
MOST_READ = 0.06
# Rows that are read at once.
ROWS_READ = 512


@dataclass(frozen=True)
class NearPairs:
    """Similarities of pairs that are connected in A or nearly so, and a bound on all others.

    Attributes
    ----------
    similarities : csr_array of shape (n_points, n_points)
        Symmetric, with all entries of the diagonal.
    floors : ndarray of shape (n_points,)
        A pair that `similarities` does not hold has a similarity of at most the sum of its floors.
        Minus infinity if there is no such pair, or none that may be connected.
    """

    similarities: sparse.csr_array
    floors: Array

    @cached_property
    def rows(self) -> Array:
        """The row of every entry."""
        n = self.similarities.shape[0]
        return np.repeat(np.arange(n, dtype=np.int32), np.diff(self.similarities.indptr))

    @cached_property
    def support(self) -> Support:
        """The near pairs as the support of a projection."""
        return Support(self.similarities, symmetric=True)

    def slacks(self, potentials: Array) -> Array:
        """Return ``K_ij - alpha_i - alpha_j`` of every entry."""
        sums = potentials[self.rows] + potentials[self.similarities.indices]
        return self.similarities.data - sums

    def rises(self, potentials: Array) -> Array:
        """Return floors less potentials; the sum of two bounds the slack of any other pair."""
        return self.floors - potentials

    def hold_all_positive(self, potentials: Array) -> bool:
        """Return whether no other pair can have a slack above zero."""
        rises = self.rises(potentials)
        return len(rises) < 2 or bool(np.sum(np.partition(rises, -2)[-2:]) <= 0.0)

    def __getstate__(self) -> dict[str, object]:
        """Return the fields: what was computed on demand is left."""
        return {"similarities": self.similarities, "floors": self.floors}


@singledispatch
def near_pairs(similarity: Similarity, potentials: Array, eta2: float) -> NearPairs:
    """Return the near pairs of a symmetric K.

    Parameters
    ----------
    similarity : Similarity
        The symmetric K. If it is factored and was not projected before, it is searched.
    potentials : ndarray of shape (n,)
        The potentials alpha.
    eta2 : float
        Regularisation of the projection.
    """
    raise TypeError(f"no near pairs are known for {type(similarity).__name__}")


@near_pairs.register
def _dense(similarity: DenseSimilarity, potentials: Array, eta2: float) -> NearPairs:
    n = similarity.shape[0]
    counts = _dense_counts(similarity, potentials, eta2)
    margin = _first_with_few(DENSE_MARGINS, counts, n)
    if np.isinf(margin):
        every_place = np.divmod(np.arange(n * n), n)
        return _of_places(similarity, [every_place], np.full(n, -np.inf))
    lowered = lowered_by(margin * eta2, (potentials, potentials))
    every = np.ones(n, dtype=bool)
    places = similarity.area_above(Area(every, every, "rows"), lowered)
    return _of_places(similarity, list(places), lowered[0])


def _dense_counts(similarity: DenseSimilarity, potentials: Array, eta2: float) -> Array:
    """Return how many pairs are near, for each margin."""
    n = similarity.shape[0]
    counts = np.zeros(len(DENSE_MARGINS))
    for start in range(0, n, ROWS_READ):
        block = slice(start, start + ROWS_READ)
        slacks = similarity.K[block] - (potentials[block, None] + potentials)
        counts += [np.count_nonzero(slacks > -margin * eta2) for margin in DENSE_MARGINS]
    return counts / 2


def _first_with_few(margins: tuple[float, ...], counts: Array, n: int) -> float:
    """Return the first margin with few pairs per point; the last one in any case."""
    few = np.flatnonzero(counts <= MOST_PER_POINT * n)
    return margins[few[0] if len(few) else -1]


@near_pairs.register
def _sparse(similarity: SparseSimilarity, potentials: Array, eta2: float) -> NearPairs:
    """Keep what is stored, and pairs without similarity whose potentials have a low sum."""
    K = similarity.K
    stored = np.repeat(np.arange(K.shape[0]), np.diff(K.indptr)), K.indices
    in_order = np.argsort(potentials, kind="stable")
    for margin in FACTORED_MARGINS:
        lowered = potentials - margin * eta2 / 2
        counts = np.searchsorted(lowered[in_order], -lowered, side="left")
        if counts.sum() <= 2 * MOST_PER_POINT * K.shape[0]:
            break
    rows = np.repeat(np.arange(K.shape[0]), counts)
    offsets = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    return _of_places(similarity, [stored, (rows, in_order[offsets])], lowered)


@near_pairs.register
def _restricted(similarity: RestrictedSimilarity, potentials: Array, eta2: float) -> NearPairs:
    """Keep the pattern; other pairs may not be connected."""
    pattern = similarity.pattern
    places = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr)), pattern.indices
    return _of_places(similarity, [places], np.full(pattern.shape[0], -np.inf))


@near_pairs.register
def _factored(similarity: FactoredSimilarity, potentials: Array, eta2: float) -> NearPairs:
    """Take listed pairs, and read what the bounds of the lists leave open."""
    n = similarity.shape[0]
    if not similarity.lists:
        similarity.search_if_short(eta2, Progress())
    for margin in FACTORED_MARGINS:
        is_last = margin == FACTORED_MARGINS[-1]
        lowered = lowered_by(margin * eta2, (potentials, potentials))
        (area,) = similarity.open_areas(lowered)
        if area.n_wide() * np.count_nonzero(area.columns) > MOST_READ * n * n and not is_last:
            continue
        places = similarity.listed_above(lowered)
        n_places = len(places[0][0])
        if n_places > MOST_PER_POINT * n and not is_last:
            continue
        for read in similarity.area_above(area, lowered):
            n_places += len(read[0])
            places.append(read)
            if n_places > MOST_PER_POINT * n and not is_last:
                break
        else:
            break
    return _of_places(similarity, places, lowered[0])


def _of_places(similarity: Similarity, places: list[Places], floors: Array) -> NearPairs:
    """Return the near pairs at some places, and the diagonal."""
    own = np.arange(similarity.shape[0])
    rows, columns = distinct([*places, (own, own)], similarity.shape, symmetric=True)
    values = similarity.at(rows, columns)
    return NearPairs(
        Support.of(rows, columns, values, similarity.shape, symmetric=True).matrix, floors
    )
