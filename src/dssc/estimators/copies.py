"""Results for all samples, from results for the distinct points among them.

Copies of a point express each other perfectly and tell nothing about its subspace. So the distinct
points are clustered, and their copies follow.
"""

import numpy as np
from scipy import sparse

from dssc._memory import available_bytes, check_matrices
from dssc._sparse import csr_of_parts
from dssc._typing import Array, Matrix
from dssc.engines.cpu.engine import MATRIX_FREE_FROM
from dssc.features import DistinctRows

# Bytes of one entry of a sparse affinity, and of the product it comes from.
BYTES_PER_ENTRY = 32


def spread_coefficients(C: Matrix, affinity: Matrix, rows: DistinctRows) -> Matrix:
    """Return the self-expression of all samples, by the first sample of every point.

    For many samples, an array C is cut to its entries where a sparse affinity is positive.
    """
    if not rows.has_copies:
        return C
    n = len(rows.point_of)
    if not sparse.issparse(C) and sparse.issparse(affinity) and n >= MATRIX_FREE_FROM:
        C = sparse.csr_array(affinity.astype(bool).multiply(C))
    if sparse.issparse(C):
        C = sparse.csr_array(C)[rows.point_of]
        values = C.data * np.repeat(rows.signs, np.diff(C.indptr))
        return csr_of_parts(values, rows.first[C.indices], C.indptr, (n, n))
    remedy = "Remove copies of samples, or use ADSSC"
    check_matrices("the self-expression of all samples", n, 2, available_bytes(), remedy)
    spread = np.zeros((n, n), dtype=C.dtype)
    spread[:, rows.first] = rows.signs[:, None] * C[rows.point_of]
    return spread


def spread_plan(A: Matrix, rows: DistinctRows, shares: Array | None = None) -> Matrix:
    """Return a doubly stochastic affinity of all samples from that of the distinct points.

    The copies of a point share its affinity to other points equally, and what they lack to a sum of
    one goes from each copy to the next and to the previous one. So the graph has the components of
    A. An entry of A between points with p and q copies becomes at most p + q entries, not p q:
    copies are matched in order, as long intervals are cut into p and into q equal parts.

    If samples have weights, an entry is shared by all pairs of copies in proportion to these, and
    rows sum to the weights. `shares` are those of the samples in the weights of their points.
    """
    if not rows.has_copies:
        return A
    if shares is not None:
        return _spread_by_shares(A, rows, shares)
    n, counts = len(rows.point_of), rows.n_copies
    starts = np.cumsum(counts) - counts
    A = sparse.coo_array(A)
    i, j = A.coords
    entry, p, q, share = _common_parts(counts[i], counts[j])
    left, right = rows.members[starts[i[entry]] + p], rows.members[starts[j[entry]] + q]
    shared = sparse.coo_array((A.data[entry] * share, (left, right)), shape=(n, n))
    cycle = abs(copy_cycle(rows))
    lacking = (1.0 - 1.0 / counts)[rows.point_of] / 2
    spread = sparse.csr_array(shared + (cycle + cycle.T).multiply(lacking[:, None]))
    spread.sort_indices()
    return csr_of_parts(spread.data, spread.indices, spread.indptr, (n, n))


def _spread_by_shares(A: Matrix, rows: DistinctRows, shares: Array) -> sparse.csr_array:
    """Return the affinity of all samples if copies share that of their point in given shares."""
    A, counts = sparse.csr_array(A), rows.n_copies
    n_entries = float(counts @ (A.astype(bool).astype(np.float64) @ counts))
    needed, available = BYTES_PER_ENTRY * n_entries, available_bytes()
    if available is not None and needed > available:
        raise MemoryError(
            f"the affinity of all copies would hold {n_entries:.3g} entries ({needed:.3g} bytes, "
            f"{available:.3g} available); keep one sample of each point, with the sum of weights"
        )
    places = np.arange(len(shares)), rows.point_of
    S = sparse.csr_array((shares, places), shape=(len(shares), rows.n_points))
    return sparse.csr_array(S @ A @ S.T)


def copy_cycle(rows: DistinctRows) -> sparse.csr_array:
    """Return the matrix that takes every sample with copies to the next copy of its point."""
    counts = rows.n_copies
    ends = np.cumsum(counts)
    following = np.arange(1, len(rows.members) + 1)
    following[ends - 1] = ends - counts
    has_copies = np.flatnonzero(counts[rows.point_of[rows.members]] > 1)
    left, right = rows.members[has_copies], rows.members[following[has_copies]]
    signs = rows.signs[left] * rows.signs[right]
    n = len(rows.point_of)
    return sparse.csr_array((signs, (left, right)), shape=(n, n))


def _common_parts(p: Array, q: Array) -> tuple[Array, Array, Array, Array]:
    """Cut intervals into p and into q equal parts; return the parts common to both.

    Returns
    -------
    interval, first, second, share : ndarrays
        For every common part: its interval, the part of the first and of the second cut that it
        lies in, and its share of the interval.
    """
    owners, cuts = [], []
    for n_parts, width in ((p, q), (q, p)):  # an interval has length p q
        owner = np.repeat(np.arange(len(p)), n_parts)
        rank = np.arange(len(owner)) - np.repeat(np.cumsum(n_parts) - n_parts, n_parts)
        owners.append(owner)
        cuts.append(rank * width[owner])
    owner, cut = np.concatenate(owners), np.concatenate(cuts)
    order = np.lexsort((cut, owner))
    owner, cut = owner[order], cut[order]
    is_new = np.append(True, (np.diff(owner) != 0) | (np.diff(cut) != 0))
    owner, cut = owner[is_new], cut[is_new]
    length = (p * q)[owner]
    is_last = np.append(np.diff(owner) != 0, True)
    end = np.where(is_last, length, np.append(cut[1:], 0))
    return owner, cut // q[owner], cut // p[owner], (end - cut) / length
