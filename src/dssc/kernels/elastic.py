"""The elastic net problems of the rows, each solved exactly over a few candidates.

Row i of the elastic net expresses sample x_i by other samples:

    minimise over c   |x_i - sum_j c_j x_j|^2 / 2 + eta1 |c|^2 / 2 + eta3 |c|_1.

Candidates that violate their optimality condition become members of the row's problem, which is a
small quadratic with the Gram matrix of the members. `members` holds their samples.
"""

import numba
import numpy as np
from numba import prange

from dssc._typing import Array
from dssc.kernels.arithmetic import dot
from dssc.kernels.compiling import leaf, parallel, reduction
from dssc.kernels.l1_quadratic import append, minimise

# Members that enter together in the first round. Later a quarter of the present number is added.
FIRST_ENTRANTS = 4


@leaf
def _product(X: Array, inner: Array, j: int, k: int) -> float:
    return inner[j, k] if len(inner) else dot(X[j], X[k])


@leaf
def _enlist(
    X: Array,
    inner: Array,
    i: int,
    new: int,
    members: Array,
    width: int,
    gram: Array,
    target: Array,
    c: Array,
    signs: Array,
) -> None:
    """Make sample `new` a member: write its inner products with the others and with sample i."""
    members[width] = new
    for a in range(width + 1):
        gram[a, width] = gram[width, a] = _product(X, inner, members[a], new)
    target[width] = _product(X, inner, new, i)
    c[width] = 0.0
    signs[width] = 0.0


@reduction
def _residual(
    X: Array, i: int, members: Array, c: Array, order: Array, size: int, r: Array
) -> None:
    r[:] = X[i]
    for a in range(size):
        weight = c[order[a]]
        row = X[members[order[a]]]
        for e in range(len(r)):
            r[e] -= weight * row[e]


@reduction
def _correlation(
    X: Array,
    inner: Array,
    i: int,
    j: int,
    r: Array,
    members: Array,
    c: Array,
    order: Array,
    size: int,
) -> float:
    """Return ``x_j . r``, from the inner products of samples where that is less work."""
    if len(inner) == 0 or size > len(r):
        return dot(X[j], r)
    row = inner[j]
    total = row[i]
    for a in range(size):
        total -= c[order[a]] * row[members[order[a]]]
    return total


@leaf
def _enter_worst(
    X: Array,
    inner: Array,
    i: int,
    r: Array,
    candidates: Array,
    eta3: float,
    tol: float,
    members: Array,
    width: int,
    order: Array,
    size: int,
    gram: Array,
    target: Array,
    c: Array,
    signs: Array,
    prices: Array,
) -> tuple[int, float]:
    """Make members of the candidates that violate their condition most.

    Returns the new number of members, and the largest violation before. The price of a candidate
    is its violation. It is negative where the candidate is a member already, or stands for none.
    """
    worst = 0.0
    for q in range(len(candidates)):
        if prices[q] >= 0.0:
            p = _correlation(X, inner, i, candidates[q], r, members, c, order, size)
            prices[q] = max(0.0, abs(p) - eta3)
            worst = max(worst, prices[q])
    n_entrants = min(FIRST_ENTRANTS + width // 4, len(members) - width)
    for _ in range(n_entrants):
        best = np.argmax(prices)
        if prices[best] <= tol:
            break
        prices[best] = -1.0
        _enlist(X, inner, i, candidates[best], members, width, gram, target, c, signs)
        width += 1
    return width, worst


@leaf
def _load_row(
    X: Array,
    inner: Array,
    i: int,
    support: Array,
    coefficients: Array,
    width: int,
    ridge: float,
    members: Array,
    order: Array,
    gram: Array,
    factor: Array,
    target: Array,
    c: Array,
    signs: Array,
) -> None:
    """Make members of the samples in a row's support, and factorise their Gram matrix."""
    for a in range(width):
        _enlist(X, inner, i, support[a], members, a, gram, target, c, signs)
        c[a] = coefficients[a]
        signs[a] = np.sign(c[a])
        append(gram, ridge, order, a, a, factor)


@leaf
def _store_row(
    X: Array,
    r: Array,
    eta1: float,
    eta3: float,
    members: Array,
    order: Array,
    size: int,
    c: Array,
    signs: Array,
    support: Array,
    coefficients: Array,
) -> float:
    """Write a row's solution; return the largest violation of a condition on its support."""
    worst = 0.0
    for a in range(size):
        j = order[a]
        support[a] = members[j]
        coefficients[a] = c[j]
        gradient = dot(X[members[j]], r) - eta1 * c[j] - eta3 * signs[j]
        worst = max(worst, abs(gradient))
    return worst


@parallel
def solve_rows(
    X: Array,
    inner: Array,
    own: Array,
    candidates: Array,
    eta1: float,
    eta3: float,
    ridge: float,
    tol: float,
    gram: Array,
    factor: Array,
    reals: Array,
    integers: Array,
    prices: Array,
    support: Array,
    coefficients: Array,
    sizes: Array,
    residuals: Array,
    violations: Array,
    fits: Array,
) -> None:
    """Solve the problem of every row over its support and its candidates.

    `support`, `coefficients` and `sizes` hold the solutions to start from, and are overwritten by
    the new ones. A candidate of -1 stands for none. `inner` holds the inner products of all
    samples; if it is empty, they are computed when they are needed.

    Also written are the residuals, the largest violation of an optimality condition among the
    samples considered, and whether the row fits: a row that needs more members than `support` has
    columns, its capacity, stops there. The workspaces have one layer per thread: `gram` and
    `factor` (capacity x capacity), `reals` (5 x capacity), `integers` (2 x capacity) and `prices`
    (one per candidate).
    """
    penalty = max(eta1, ridge)
    for row in prange(len(own)):
        t = numba.get_thread_id()
        target, c, signs = reals[t, 0], reals[t, 1], reals[t, 2]
        z, slack = reals[t, 3], reals[t, 4]
        members, order = integers[t, 0], integers[t, 1]
        i, r, price = own[row], residuals[row], prices[t]
        size = width = sizes[row]
        _load_row(
            X, inner, i, support[row], coefficients[row], width, penalty, members, order, gram[t],
            factor[t], target, c, signs,
        )  # fmt: skip
        for q in range(len(price)):
            price[q] = -1.0 if candidates[row, q] < 0 else 0.0
        _residual(X, i, members, c, order, size, r)
        inside = 0.0
        while True:
            before = width
            width, worst = _enter_worst(
                X, inner, i, r, candidates[row], eta3, tol, members, width, order, size, gram[t],
                target, c, signs, price,
            )  # fmt: skip
            if width == before:
                break
            size, inside = minimise(
                gram[t], target, width, penalty, eta3, tol, c, signs, order, size, factor[t],
                z, slack,
            )  # fmt: skip
            _residual(X, i, members, c, order, size, r)
        fits[row] = worst <= tol
        sizes[row] = size
        on_support = _store_row(
            X, r, eta1, eta3, members, order, size, c, signs, support[row], coefficients[row]
        )
        violations[row] = max(worst, inside, on_support)
