"""What is proved about the projections of K for every eta2 between two values.

Let a and b be exact potentials for the two values, and S_a and S_b their slacks. For
``eta2 = (1 - t) eta2_a + t eta2_b`` consider the potentials ``c = (1 - t) a + t b``, with slacks
``S = (1 - t) S_a + t S_b``. The matrix ``P = (1 - t) [S_a]_+ + t [S_b]_+`` has rows that sum to
eta2, so ``P / eta2`` is feasible, and in units of K the duality gap of P and c is

    sum_ij ( 1/2 (P_ij - [S_ij]_+)^2 + P_ij [-S_ij]_+ ) ;    see `certificate.py`.

A term is zero unless the slacks at the two ends have opposite signs, -x and y, and then it is at
most ``x^2 y / (4 x + 2 y)`` for every t. So the sum of these bounds the gap for all eta2 between
the two, and with it the distance of ``[S]_+`` from the exact plan times eta2. As at a single eta2,
the errors of the potentials c follow along walks over entries that are sure at both ends.

The bound is for points that are connected with each other. Components that no slack above zero
joins, with these errors added, are problems of their own.
"""

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from dssc._typing import Array
from dssc.stochastic.accurate_projection import AccurateProjection, are_closed
from dssc.stochastic.near_pairs import NearPairs
from dssc.stochastic.potential_error import errors_along_walks

# Relative margin for the rounding of the sum of all gaps.
SUM_ROUNDING = 1e-6


def errors_between(
    near: NearPairs, first: AccurateProjection, second: AccurateProjection
) -> Array | None:
    """Return how far exact potentials between two values of eta2 can be from interpolated ones.

    Parameters
    ----------
    near : NearPairs
        The near pairs of K.
    first, second : AccurateProjection
        Projections for the two values.

    Returns
    -------
    errors : ndarray of shape (n,) or None
        A bound for every point and every eta2 between the two, beside the errors of the two
        projections themselves; None if there is none.
    """
    ends = first, second
    if not all(end.is_known.all() for end in ends):
        return None
    slacks = [near.slacks(end.potentials) for end in ends]
    doubts = [_at_pairs(near, end.errors) + end.rounding for end in ends]
    lowest = np.minimum(*(slack - doubt for slack, doubt in zip(slacks, doubts, strict=True)))
    highest = np.maximum(*(slack + doubt for slack, doubt in zip(slacks, doubts, strict=True)))
    x, y = np.maximum(-lowest, 0.0), np.maximum(highest, 0.0)
    gaps = np.divide(x * x * y, 4.0 * x + 2.0 * y, out=np.zeros_like(x), where=(x > 0) & (y > 0))
    is_joined = highest > 0.0
    while True:
        component = connected_components(_at(near, is_joined), directed=False)[1]
        total = np.bincount(component[near.rows], gaps)
        distance = np.sqrt(2.0 * (1.0 + SUM_ROUNDING) * total)[component]
        sure = _at(near, lowest > distance[near.rows])
        found = errors_along_walks(sure, distance, 0.0)
        errors = found.bounds
        if not np.all(np.isfinite(errors)) or not _hold_all_positive(near, ends, errors):
            return None
        may_join = highest + _at_pairs(near, errors) > 0.0
        is_new = may_join & (component[near.rows] != component[near.similarities.indices])
        if not is_new.any():
            break
        is_joined |= is_new
    if found.is_free.any() and not are_closed(near, list(ends), found, errors):
        return None
    return errors


def _hold_all_positive(
    near: NearPairs, ends: tuple[AccurateProjection, ...], errors: Array
) -> bool:
    """Return whether no pair that is not near can be connected."""
    return all(near.hold_all_positive(end.safe_potentials(errors) - end.rounding) for end in ends)


def _at_pairs(near: NearPairs, errors: Array) -> Array:
    """Return the sum of the errors of the two points of every near pair."""
    return errors[near.rows] + errors[near.similarities.indices]


def _at(near: NearPairs, marks: Array) -> sparse.csr_array:
    """Return the near pairs that are marked, as a matrix."""
    K = near.similarities
    marked = np.flatnonzero(marks)
    indptr = np.searchsorted(marked, K.indptr)
    return sparse.csr_array(
        (np.ones(len(marked), dtype=bool), K.indices[marked], indptr), shape=K.shape
    )
