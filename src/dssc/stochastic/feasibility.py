"""Checking that a plan with given marginals fits a pattern, before a solver looks for it."""

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order, maximum_bipartite_matching, maximum_flow

from dssc._typing import Array

# Flows are computed in whole units; a mean marginal has this many.
UNITS = 1 << 20


def check_support(
    support: Any, shape: tuple[int, int], marginals: tuple[Array, Array]
) -> sparse.csr_array:
    """Return the pattern as a CSR matrix of ones, if it can carry the marginals.

    A doubly stochastic matrix fits a pattern exactly when a permutation does (Birkhoff); with other
    marginals it takes a flow from rows to columns along the pattern that uses all of them.
    """
    support = sparse.csr_array(support)
    if support.shape != tuple(shape):
        raise ValueError(f"support has shape {support.shape} but K has shape {tuple(shape)}")
    pattern = sparse.csr_array((support != 0), dtype=np.float64)
    a, b = marginals
    if np.all(a == a[0]) and np.all(b == a[0]):
        _check_matching(pattern)
    else:
        _check_flow(pattern, a, b)
    return pattern


def _check_matching(pattern: sparse.csr_array) -> None:
    partner = maximum_bipartite_matching(pattern, perm_type="column")
    unmatched = np.flatnonzero(partner < 0)
    if len(unmatched):
        raise ValueError(
            f"support is infeasible: {len(unmatched)} rows, row {unmatched[0]} among them, cannot "
            "be matched with columns of their own; add entries to their rows"
        )


def _check_flow(pattern: sparse.csr_array, a: Array, b: Array) -> None:
    n, m = pattern.shape
    source, sink = n + m, n + m + 1
    capacity = _network(pattern, a, b)
    flow = maximum_flow(capacity, source, sink)
    # Rounding to whole units can cost half a unit for each row and column.
    if flow.flow_value >= min(capacity[[source]].sum(), capacity[:, [sink]].sum()) - (n + m):
        return
    residual = sparse.csr_array(capacity - flow.flow)
    residual.data[residual.data < 0] = 0
    residual.eliminate_zeros()
    reached = breadth_first_order(residual, source, return_predecessors=False)
    rows = np.sort(reached[reached < n])
    raise ValueError(
        f"support is infeasible: {len(rows)} rows, row {rows[0]} among them, have more mass in "
        "their marginals than the columns they may use can take; add entries to their rows"
    )


def _network(pattern: sparse.csr_array, a: Array, b: Array) -> sparse.csr_array:
    """Return capacities from a source to rows, along the pattern to columns, and to a sink."""
    n, m = pattern.shape
    scale = UNITS / a.mean()
    supply = np.maximum(np.rint(scale * a), 1).astype(np.int32)
    demand = np.maximum(np.rint(scale * b), 1).astype(np.int32)
    rows, columns = pattern.nonzero()
    heads = np.concatenate([rows, np.full(n, n + m), n + np.arange(m)])
    tails = np.concatenate([n + columns, np.arange(n), np.full(m, n + m + 1)])
    limits = np.concatenate([np.minimum(supply[rows], demand[columns]), supply, demand])
    return sparse.csr_array((limits, (heads, tails)), shape=(n + m + 2, n + m + 2), dtype=np.int32)
