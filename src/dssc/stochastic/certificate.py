"""How good a plan is, computed from the plan alone.

For a feasible B and any potentials, with slacks ``z = (K - alpha 1' - 1 beta') / eta2``, primal
objective less dual value is a sum of nonnegative terms,

    gap = eta2 * sum_ij ( 1/2 (B_ij - [z_ij]_+)^2 + B_ij [-z_ij]_+ ),

so no digits are lost in the difference of two large numbers.
"""

import numpy as np
from scipy import sparse


def marginal_error(A) -> float:
    """Return the largest deviation from one among the row and column sums of A."""
    return float(max(np.abs(A.sum(axis=0) - 1).max(), np.abs(A.sum(axis=1) - 1).max()))


def duality_gap(A, K_at, potentials, eta2: float, dual: float) -> float:
    """Return the duality gap of A, rounded to feasibility, relative to ``max(1, |dual|)``.

    `K_at` gives similarities by (rows, columns); A is the positive part of the slacks in CSR form.
    """
    alpha, beta = potentials
    scaled, (rows, columns, mass) = round_to_feasible(A)
    change = sparse.csr_array((mass, (rows, columns)), shape=A.shape) + (scaled - A)
    z = (K_at(rows, columns) - alpha[rows] - beta[columns]) / eta2
    gap = 0.5 * float(np.sum(change.data**2)) + float(mass @ np.maximum(-z, 0.0))
    return eta2 * gap / max(1.0, abs(dual))


def dual_value(A, potentials, eta2: float) -> float:
    """Return the dual objective (dual) at the potentials whose slacks' positive part is A."""
    alpha, beta = potentials
    return float(-alpha.sum() - beta.sum() - 0.5 * eta2 * np.sum(A.data**2))


def round_to_feasible(A):
    """Return A scaled below the marginals, and entries (rows, columns, mass) that make up the rest.

    Rows, then columns, are scaled down to sum to one at most; the mass that is missing then is
    paired off from the first row and column to the last, in at most 2n - 1 entries.
    """
    A = sparse.diags_array(1.0 / np.maximum(A.sum(axis=1), 1.0)) @ A
    A = A @ sparse.diags_array(1.0 / np.maximum(A.sum(axis=0), 1.0))
    missing_rows = np.maximum(1.0 - A.sum(axis=1), 0.0)
    missing_columns = np.maximum(1.0 - A.sum(axis=0), 0.0)
    return A, _pair_off(missing_rows, missing_columns)


def _pair_off(supply, demand):
    """Return the north-west corner plan between two vectors of (nearly) equal sums."""
    ends = np.union1d(np.cumsum(supply), np.cumsum(demand))
    starts = np.concatenate([[0.0], ends[:-1]])
    last = len(supply) - 1
    rows = np.minimum(np.searchsorted(np.cumsum(supply), starts, side="right"), last)
    columns = np.minimum(np.searchsorted(np.cumsum(demand), starts, side="right"), last)
    return rows, columns, ends - starts
