"""The small elastic net problems of the rows, each solved exactly by an active set.

A row's problem, restricted to some members, is a quadratic with the Gram matrix of the members and
an l1 penalty. On the face where the signs are known it is one linear system, whose Cholesky factor
is kept up to date as members enter and leave. Each row is solved by one thread, with workspaces of
that thread, so the answer does not depend on the number of threads.
"""

import numba
import numpy as np
from numba import prange

from dssc.kernels._numba.arithmetic import dot
from dssc.kernels._numba.compiling import leaf, parallel, reduction

FIRST_ENTRANTS = 4  # members that enter at first; then a quarter of those already in
STEPS_PER_MEMBER = 50  # far above what is ever needed: a bound on rounding gone wrong


@leaf
def _append(gram, ridge, order, size, new, factor):
    """Extend the factor of ``gram[order, order] + ridge I`` by the member `new`."""
    row = factor[size]
    for a in range(size):
        row[a] = (gram[order[a], new] - dot(factor[a, :a], row[:a])) / factor[a, a]
    pivot = gram[new, new] + ridge - dot(row[:size], row[:size])
    # In exact arithmetic the pivot is at least the ridge.
    row[size] = np.sqrt(max(pivot, ridge))
    order[size] = new


@leaf
def _remove(order, size, position, factor):
    """Take one member out of the factor, by rotations."""
    for a in range(position, size - 1):
        order[a] = order[a + 1]
        factor[a, : a + 2] = factor[a + 1, : a + 2]
    for j in range(position, size - 1):
        length = np.hypot(factor[j, j], factor[j, j + 1])
        cosine, sine = factor[j, j] / length, factor[j, j + 1] / length
        for i in range(j, size - 1):
            left, right = factor[i, j], factor[i, j + 1]
            factor[i, j] = cosine * left + sine * right
            factor[i, j + 1] = cosine * right - sine * left


@leaf
def _solve(factor, size, z):
    """Solve ``L L' z = z`` in place."""
    for a in range(size):
        z[a] = (z[a] - dot(factor[a, :a], z[:a])) / factor[a, a]
    for a in range(size - 1, -1, -1):
        z[a] /= factor[a, a]
        for b in range(a):
            z[b] -= factor[a, b] * z[a]


@leaf
def _descend(target, eta3, c, signs, order, size, factor, z):
    """Move to the minimiser of the face, dropping members whose coefficient would change sign.

    Returns the size of the face that is left and the number of members dropped.
    """
    n_dropped = 0
    while size > 0:
        for a in range(size):
            z[a] = target[order[a]] - eta3 * signs[order[a]]
        _solve(factor, size, z)
        step, blocking = 1.0, -1
        for a in range(size):
            j = order[a]
            if z[a] * signs[j] <= 0.0:
                reach = c[j] / (c[j] - z[a]) if c[j] != 0.0 else 0.0
                if blocking < 0 or reach < step:
                    step, blocking = reach, a
        for a in range(size):
            j = order[a]
            c[j] = z[a] if blocking < 0 else c[j] + step * (z[a] - c[j])
        if blocking < 0:
            break
        c[order[blocking]] = 0.0
        signs[order[blocking]] = 0.0
        _remove(order, size, blocking, factor)
        size -= 1
        n_dropped += 1
    return size, n_dropped


@leaf
def _minimise(gram, target, width, ridge, eta3, tol, c, signs, order, size, factor, z, slack):
    """Minimise over the first `width` members, starting at the minimiser of a face.

    A member that violates its condition decreases the objective when it enters; of several that
    enter together at least one stays, so every round decreases it and none comes back.
    Returns the size of the optimal face and the largest violation among the other members.
    """
    steps = 0
    worst = 0.0
    size, n_dropped = _descend(target, eta3, c, signs, order, size, factor, z)
    while steps < STEPS_PER_MEMBER * (width + 1):
        worst = 0.0
        for j in range(width):
            slack[j] = 0.0
            if signs[j] == 0.0:
                g = target[j]
                for a in range(size):
                    g -= gram[j, order[a]] * c[order[a]]
                slack[j] = g
                worst = max(worst, abs(g) - eta3)
        if worst <= tol:
            break
        for j in range(width):
            if signs[j] == 0.0 and abs(slack[j]) - eta3 >= 0.5 * worst:
                signs[j] = np.sign(slack[j])
                _append(gram, ridge, order, size, j, factor)
                size += 1
                steps += 1
        size, n_dropped = _descend(target, eta3, c, signs, order, size, factor, z)
        steps += n_dropped
    return size, worst


@leaf
def _product(X, inner, j, k):
    return inner[j, k] if len(inner) else dot(X[j], X[k])


@leaf
def _enlist(X, inner, i, new, members, width, gram, target, c, signs):
    """Make sample `new` a member: its inner products with the others and with sample i."""
    members[width] = new
    for a in range(width + 1):
        gram[a, width] = gram[width, a] = _product(X, inner, members[a], new)
    target[width] = _product(X, inner, new, i)
    c[width] = 0.0
    signs[width] = 0.0


@reduction
def _residual(X, i, members, c, order, size, r):
    r[:] = X[i]
    for a in range(size):
        weight = c[order[a]]
        row = X[members[order[a]]]
        for e in range(len(r)):
            r[e] -= weight * row[e]


@reduction
def _correlation(X, inner, i, j, r, members, c, order, size):
    """Return ``x_j . r``, by the inner products where that is less work."""
    if len(inner) == 0 or size > len(r):
        return dot(X[j], r)
    row = inner[j]
    total = row[i]
    for a in range(size):
        total -= c[order[a]] * row[members[order[a]]]
    return total


@leaf
def _enter_worst(
    X, inner, i, r, candidates, eta3, tol, members, width, order, size, gram, target, c, signs,
    prices,
):  # fmt: skip
    """Make members of the candidates that violate their condition most.

    Returns the new number of members, and the largest violation there was. Prices of candidates
    that are members already are negative.
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


@parallel
def solve_rows(
    X,
    inner,
    own,
    candidates,
    eta1,
    eta3,
    ridge,
    tol,
    gram,
    factor,
    reals,
    integers,
    prices,
    support,
    coefficients,
    sizes,
    residuals,
    violations,
    room,
):
    """Solve every row over its support and its candidates, starting from its support.

    `inner` holds all inner products of samples, or is empty; then they are computed as needed.
    `support`, `coefficients` and `sizes` hold the rows' solutions, before and after. Written are
    also the residuals, the largest violation of an optimality condition within reach, and whether
    there was room enough: a row that needs more members than `support` has columns stops there.
    The workspaces have one layer a thread: `gram` and `factor` (capacity x capacity), `reals`
    (5 x capacity), `integers` (2 x capacity), `prices` (candidates).
    """
    penalty = max(eta1, ridge)
    for row in prange(len(own)):
        t = numba.get_thread_id()
        target, c, signs, z, slack = (
            reals[t, 0],
            reals[t, 1],
            reals[t, 2],
            reals[t, 3],
            reals[t, 4],
        )
        members, order = integers[t, 0], integers[t, 1]
        i, r, price = own[row], residuals[row], prices[t]
        size = 0
        width = sizes[row]
        for a in range(width):
            _enlist(X, inner, i, support[row, a], members, a, gram[t], target, c, signs)
            c[a] = coefficients[row, a]
            signs[a] = np.sign(c[a])
            _append(gram[t], penalty, order, size, a, factor[t])
            size += 1
        price[:] = 0.0
        for q in range(len(price)):
            if candidates[row, q] < 0:
                price[q] = -1.0
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
            size, inside = _minimise(
                gram[t], target, width, penalty, eta3, tol, c, signs, order, size, factor[t],
                z, slack,
            )  # fmt: skip
            _residual(X, i, members, c, order, size, r)
        room[row] = worst <= tol
        worst = max(worst, inside)
        sizes[row] = size
        for a in range(size):
            j = order[a]
            support[row, a] = members[j]
            coefficients[row, a] = c[j]
            gradient = dot(X[members[j]], r) - eta1 * c[j] - eta3 * signs[j]
            worst = max(worst, abs(gradient))
        violations[row] = worst
