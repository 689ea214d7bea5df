"""Checking that a plan with given marginals fits a pattern, before a solver looks for it."""

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order, maximum_bipartite_matching, maximum_flow

from dssc._typing import Array
from dssc._validation import check_structure

# Flows are computed in whole units. At first a mean marginal has this many ...
FIRST_UNITS = 1 << 20
# ... and units get smaller down to this part of a mean marginal.
SMALLEST_UNIT = 1e-12
# Most units along one edge; sums of two stay within 32 bits.
LARGEST_FLOW = 1 << 30


def check_support(
    support: Any, shape: tuple[int, int], marginals: tuple[Array, Array]
) -> sparse.csr_array:
    """Return the pattern as a CSR matrix of ones, if it can carry the marginals.

    A doubly stochastic matrix fits a pattern exactly when a permutation does (Birkhoff); with other
    marginals it takes a flow from rows to columns along the pattern that uses all of them.
    """
    support = sparse.csr_array(check_structure("support", support))
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
    """Look for a flow that uses all of the marginals, in smaller and smaller units.

    Each round sends what is left, in whole units, through what the flow so far leaves free: along
    the pattern, and back where mass was sent before. Where a plan exists, at most about
    one unit of each row and column stays behind.
    """
    n, m = pattern.shape
    mean = a.mean()
    a, b = a / mean, b / mean
    flow = sparse.csr_array(pattern.shape)
    unit = 1.0 / FIRST_UNITS
    finer = max(2, LARGEST_FLOW // (2 * (n + m)))  # so that what is left stays in range
    while True:
        left = a - flow.sum(axis=1), b - flow.sum(axis=0)
        network = _network(pattern, flow, left, unit)
        sent = maximum_flow(network, n + m, n + m + 1).flow
        flow = flow + unit * sparse.csr_array(sent[:n, n : n + m], dtype=np.float64)
        if (a - flow.sum(axis=1)).sum() > 2 * (n + m) * unit:
            _refuse(pattern, network - sent, a, b)
        if unit == SMALLEST_UNIT:
            return
        unit = max(unit / finer, SMALLEST_UNIT)


def _refuse(pattern: sparse.csr_array, residual: sparse.csr_array, a: Array, b: Array) -> None:
    """Raise the error that names rows from which nothing more can be sent."""
    n, m = pattern.shape
    residual = sparse.csr_array(residual)
    residual.data[residual.data < 0] = 0
    residual.eliminate_zeros()
    reached = breadth_first_order(residual, n + m, return_predecessors=False)
    rows = np.sort(reached[reached < n])
    excess = a[rows].sum() - b[np.unique(pattern[rows].indices)].sum()
    raise ValueError(
        f"support is infeasible: {len(rows)} rows, row {rows[0]} among them, have more mass in "
        f"their marginals than the columns they may use can take, by {excess:.1e} mean row sums; "
        "add entries to their rows, or change the marginals"
    )


def _network(
    pattern: sparse.csr_array, flow: sparse.csr_array, left: tuple[Array, Array], unit: float
) -> sparse.csr_array:
    """Return capacities from a source to rows, along the pattern to columns, and to a sink.

    Columns lead back to rows with the mass of the flow so far.
    """
    n, m = pattern.shape
    rows, columns = pattern.nonzero()
    back = flow.tocoo()
    heads = np.concatenate([rows, n + back.col, np.full(n, n + m), n + np.arange(m)])
    tails = np.concatenate([n + columns, back.row, np.arange(n), np.full(m, n + m + 1)])
    limits = np.concatenate([np.full(len(rows), np.inf), back.data, *left]) / unit
    limits = np.clip(np.floor(limits), 0, LARGEST_FLOW).astype(np.int32)
    return sparse.csr_array((limits, (heads, tails)), shape=(n + m + 2, n + m + 2))
