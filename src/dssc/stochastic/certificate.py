"""How good a plan is, computed from the plan alone.

For a feasible B and any potentials, with slacks ``z = (K - alpha 1' - 1 beta') / eta2``, primal
objective less dual value is a sum of nonnegative terms,

    gap = eta2 * sum_ij ( 1/2 (B_ij - [z_ij]_+)^2 + B_ij [-z_ij]_+ ),

so no digits are lost in the difference of two large numbers.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from scipy import sparse

from dssc._typing import Array, Matrix

# Two vectors: marginals (a, b), or potentials (alpha, beta).
Pair: TypeAlias = tuple[Array, Array]
# Rows, columns and mass of some entries.
Masses: TypeAlias = tuple[Array, Array, Array]


def marginal_error(A: Matrix, marginals: Pair) -> float:
    """Return the largest deviation of a row or column sum of A from its target."""
    a, b = marginals
    return float(max(np.abs(A.sum(axis=1) - a).max(), np.abs(A.sum(axis=0) - b).max()))


def duality_gap(
    A: sparse.csr_array,
    K_at: Callable[[Array, Array], Array],
    potentials: Pair,
    marginals: Pair,
    eta2: float,
    dual: float,
    *,
    symmetric: bool,
) -> float:
    """Return the duality gap of A, rounded to feasibility, relative to ``max(1, |dual|)``.

    `K_at` gives similarities by (rows, columns); A is the positive part of the slacks in CSR form.
    """
    alpha, beta = potentials
    scaled, (rows, columns, mass) = round_to_feasible(A, marginals, symmetric)
    change = sparse.csr_array((mass, (rows, columns)), shape=A.shape) + (scaled - A)
    z = (K_at(rows, columns) - alpha[rows] - beta[columns]) / eta2
    gap = 0.5 * float(np.sum(change.data**2)) + float(mass @ np.maximum(-z, 0.0))
    return eta2 * gap / max(1.0, abs(dual))


def dual_value(A: sparse.csr_array, potentials: Pair, marginals: Pair, eta2: float) -> float:
    """Return the dual objective (dual) at the potentials whose slacks' positive part is A."""
    alpha, beta = potentials
    a, b = marginals
    return float(-alpha @ a - beta @ b - 0.5 * eta2 * np.sum(A.data**2))


def dense_gap(K: Array, A: Array, potentials: Pair, eta2: float) -> float:
    """Return the duality gap of an array A that need not be the positive part of any slacks."""
    marginals = np.ones(len(K)), np.ones(len(K))
    alpha, beta = potentials
    scaled, (rows, columns, mass) = round_to_feasible(sparse.csr_array(A), marginals)
    feasible = scaled.toarray()
    np.add.at(feasible, (rows, columns), mass)
    slack = (K - alpha[:, None] - beta[None, :]) / eta2
    positive = np.maximum(slack, 0.0)
    gap = 0.5 * np.sum((feasible - positive) ** 2) + np.sum(feasible * (positive - slack))
    dual = -alpha.sum() - beta.sum() - 0.5 * eta2 * np.sum(positive**2)
    return float(eta2 * gap / max(1.0, abs(dual)))


def round_to_feasible(
    A: sparse.csr_array, marginals: Pair, symmetric: bool = False
) -> tuple[sparse.csr_array, Masses]:
    """Return A scaled below the marginals, and entries (rows, columns, mass) that make up the rest.

    Rows and columns are scaled down to their marginals at most. The mass that is missing then is
    paired off from the first row and column to the last, in fewer entries than rows and columns.
    For a symmetric A it goes on the diagonal.
    """
    a, b = marginals
    by_row = A.sum(axis=1)
    by_column = by_row if symmetric else A.sum(axis=0)
    A = sparse.diags_array(a / np.maximum(by_row, a)) @ A
    A = A @ sparse.diags_array(b / np.maximum(by_column, b))
    missing_rows = np.maximum(a - A.sum(axis=1), 0.0)
    missing_columns = missing_rows if symmetric else np.maximum(b - A.sum(axis=0), 0.0)
    return A, pair_off(missing_rows, missing_columns)


def pair_off(supply: Array, demand: Array) -> Masses:
    """Return the north-west corner plan between two vectors of (nearly) equal sums.

    Its entries (rows, columns, mass) go from one corner of the matrix to the other. Between equal
    vectors they are the diagonal.
    """
    supplied, demanded = np.cumsum(supply), np.cumsum(demand)
    ends = np.union1d(supplied, demanded)
    starts = np.concatenate([[0.0], ends[:-1]])
    rows = np.minimum(np.searchsorted(supplied, starts, side="right"), len(supply) - 1)
    columns = np.minimum(np.searchsorted(demanded, starts, side="right"), len(demand) - 1)
    return rows, columns, ends - starts
