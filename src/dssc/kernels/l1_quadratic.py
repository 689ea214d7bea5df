"""A small quadratic with an l1 penalty, minimised exactly by an active set.

For use inside other kernels. With a Gram matrix G and a target t, the problem is

    minimise over c   c' (G + ridge I) c / 2 - t' c + eta3 |c|_1.

On a face, where the nonzero coefficients and their signs are fixed, the minimiser solves one linear
system. Its Cholesky factor is updated as members enter and leave the face. `order` lists the
members of the face in the order of the factor.
"""

import numpy as np

from dssc._typing import Array
from dssc.kernels.arithmetic import dot
from dssc.kernels.compiling import leaf

# A limit for rounds that go in circles because of rounding. The steps needed are far fewer.
STEPS_PER_MEMBER = 50


@leaf
def append(gram: Array, ridge: float, order: Array, size: int, new: int, factor: Array) -> None:
    """Extend the factor of ``gram[order, order] + ridge I`` by the member `new`."""
    row = factor[size]
    for a in range(size):
        row[a] = (gram[order[a], new] - dot(factor[a, :a], row[:a])) / factor[a, a]
    pivot = gram[new, new] + ridge - dot(row[:size], row[:size])
    # In exact arithmetic the pivot is at least the ridge.
    row[size] = np.sqrt(max(pivot, ridge))
    order[size] = new


@leaf
def _remove(order: Array, size: int, position: int, factor: Array) -> None:
    """Remove one member from the factor, by Givens rotations."""
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
def substitute(factor: Array, size: int, z: Array) -> None:
    """Solve ``L L' z = z`` in place."""
    for a in range(size):
        z[a] = (z[a] - dot(factor[a, :a], z[:a])) / factor[a, a]
    for a in range(size - 1, -1, -1):
        z[a] /= factor[a, a]
        for b in range(a):
            z[b] -= factor[a, b] * z[a]


@leaf
def _descend(
    target: Array,
    eta3: float,
    c: Array,
    signs: Array,
    order: Array,
    size: int,
    factor: Array,
    z: Array,
) -> tuple[int, int]:
    """Move to the minimiser of the face, dropping members whose coefficient would change sign.

    Returns the size of the remaining face and the number of dropped members.
    """
    n_dropped = 0
    while size > 0:
        for a in range(size):
            z[a] = target[order[a]] - eta3 * signs[order[a]]
        substitute(factor, size, z)
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
def minimise(
    gram: Array,
    target: Array,
    width: int,
    ridge: float,
    eta3: float,
    tol: float,
    c: Array,
    signs: Array,
    order: Array,
    size: int,
    factor: Array,
    z: Array,
    slack: Array,
) -> tuple[int, float]:
    """Minimise over the first `width` members, starting at the minimiser of a face.

    A member that violates its condition decreases the objective when it enters. Of several that
    enter together at least one stays, so every round decreases the objective and no face returns.
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
                append(gram, ridge, order, size, j, factor)
                size += 1
                steps += 1
        size, n_dropped = _descend(target, eta3, c, signs, order, size, factor, z)
        steps += n_dropped
    return size, worst
