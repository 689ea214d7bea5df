"""How good a plan is, computed from the plan alone.

For a feasible B and any potentials, with slacks ``z = (K - alpha 1' - 1 beta') / eta2``, primal
objective less dual value is a sum of nonnegative terms,

    gap = eta2 * sum_ij ( 1/2 (B_ij - [z_ij]_+)^2 + B_ij [-z_ij]_+ ),

so no digits are lost in the difference of two large numbers. It is judged relative to
``eta2 * |B|^2``, with B the plan rounded to feasibility. Neither scaling K and eta2 nor adding to
rows and columns of K changes that ratio, and half the squared distance of the optimum from B is at
most the ratio times ``|B|^2``.

If points have weights p, entry (i, j) of B stands for p_i p_j equal entries between copies of the
points. With ``B_ij = p_i p_j [z_ij]_+`` and marginals p, squares are divided by ``p_i p_j``:

    gap = eta2 * sum_ij ( 1/2 (B_ij - p_i p_j [z_ij]_+)^2 / (p_i p_j) + B_ij [-z_ij]_+ ).
"""

from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np
from scipy import sparse

from dssc._sparse import csr_of_parts
from dssc._typing import Array, Matrix
from dssc.stochastic.spanning_forest import forest_correction

# Two vectors: marginals (a, b), or potentials (alpha, beta).
Pair: TypeAlias = tuple[Array, Array]
# Rows, columns and mass of some entries.
Masses: TypeAlias = tuple[Array, Array, Array]


def marginal_error(A: Matrix, marginals: Pair, weights: Array | None = None) -> float:
    """Return the largest deviation of a row or column sum of A from its target.

    With weights, deviations are divided by them: those of single copies of the points.
    """
    unit = 1.0 if weights is None else weights
    deviations = zip((A.sum(axis=1), A.sum(axis=0)), marginals, strict=True)
    return float(max(np.abs((sums - target) / unit).max() for sums, target in deviations))


def duality_gap(
    A: sparse.csr_array,
    K_at: Callable[[Array, Array], Array],
    potentials: Pair,
    marginals: Pair,
    eta2: float,
    tol: float,
    *,
    symmetric: bool,
    weights: Array | None = None,
) -> float:
    """Return the duality gap of A, rounded to a feasible B, relative to ``eta2 * |B|^2``.

    `K_at` gives similarities by (rows, columns), where a symmetric problem asks for its diagonal
    only; A is the positive part of the slacks in CSR form, times the weights of its points if they
    are given. A second way of rounding A is tried if the first one leaves a gap above `tol`.
    """
    alpha, beta = potentials
    gap = np.inf
    for change, (rows, columns, mass) in _changes(A, marginals, symmetric):
        change = change + sparse.csr_array((mass, (rows, columns)), shape=A.shape)
        with np.errstate(over="ignore"):  # NumPy 1.26 divides its padding by a subnormal eta2, too
            z = (K_at(rows, columns) - alpha[rows] - beta[columns]) / eta2
        cost = 0.5 * sum_of_squares(change, weights) + mass @ np.maximum(-z, 0.0)
        gap = min(gap, float(cost / sum_of_squares(A + change, weights)))
        if gap <= tol:
            break
    return gap


def sum_of_squares(A: sparse.csr_array, weights: Array | None) -> float:
    """Return ``|A|^2``, entries divided by the roots of the weights of their row and column."""
    if weights is None:
        return float(np.sum(A.data**2))
    return float(np.sum(A.data**2 / entry_weights(A, weights)))


def entry_weights(A: sparse.csr_array, weights: Array) -> Array:
    """Return the product of the weights of row and column, for every stored entry of A."""
    return np.repeat(weights, np.diff(A.indptr)) * weights[A.indices]


def rounding_gap(n_positive: float, squares: float, resolution: float) -> float:
    """Return how much rounding of the slacks may hide from the gap of their positive part.

    `n_positive` entries with a sum of squares are each known to `resolution`.
    """
    return 0.5 * n_positive * resolution**2 / squares if n_positive else 0.0


def dense_gap(K: Array, A: Array, potentials: Pair, eta2: float, tol: float) -> float:
    """Return the same gap of an array A that need not be the positive part of any slacks."""
    marginals = np.ones(len(K)), np.ones(len(K))
    alpha, beta = potentials
    slack = (K - alpha[:, None] - beta[None, :]) / eta2
    positive = np.maximum(slack, 0.0)
    gap = np.inf
    for change, (rows, columns, mass) in _changes(sparse.csr_array(A), marginals, False):
        feasible = A + change.toarray()
        np.add.at(feasible, (rows, columns), mass)
        cost = 0.5 * np.sum((feasible - positive) ** 2) + np.sum(feasible * (positive - slack))
        gap = min(gap, float(cost / np.sum(feasible**2)))
        if gap <= tol:
            break
    return gap


def _changes(
    A: sparse.csr_array, marginals: Pair, symmetric: bool
) -> Iterator[tuple[sparse.csr_array, Masses]]:
    """Yield ways to make A feasible: a change of its positive entries, and masses to be added."""
    scaled, masses = round_to_feasible(A, marginals, symmetric)
    yield csr_of_parts(scaled.data - A.data, A.indices, A.indptr, A.shape), masses
    correction = forest_correction(A, *marginals)
    if correction is not None:
        change, rows, columns = correction
        if symmetric:
            change, rows = (change + change.T) / 2, (rows + columns) / 2
        yield change, pair_off(rows, rows if symmetric else columns)


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
    data = A.data * np.repeat(a / np.maximum(by_row, a), np.diff(A.indptr))
    data *= (b / np.maximum(by_column, b))[A.indices]
    A = csr_of_parts(data, A.indices, A.indptr, A.shape)
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
