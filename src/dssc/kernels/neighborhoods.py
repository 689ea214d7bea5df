"""Points, their strongest neighbours, and how far they are from what these span."""

import numpy as np

from dssc._typing import Array
from dssc.kernels.compiling import leaf

# Steps of the eigenvalue iteration per eigenvalue, far beyond the two or three that it takes.
MOST_STEPS = 30


@leaf
def strongest_neighbors(
    products: Array, own: Array, scales: Array, rows: Array, signed: bool, out: Array
) -> None:
    """Write the points of the largest similarities to each of some points, not to itself.

    The similarity of point ``rows[i]`` and point j is ``products[i, j] * (own[i] + scales[j])``,
    without its sign unless `signed`.
    """
    count = out.shape[1]
    values = np.empty(count, dtype=products.dtype)  # in falling order
    for i in range(len(rows)):
        values[:] = -np.inf
        for j in range(len(scales)):
            value = products[i, j] * (own[i] + scales[j])
            if not signed:
                value = abs(value)
            if value > values[count - 1] and j != rows[i]:
                at = count - 1
                while at > 0 and value > values[at - 1]:
                    values[at], out[i, at] = values[at - 1], out[i, at - 1]
                    at -= 1
                values[at], out[i, at] = value, j


@leaf
def distances_from_leading_directions(
    cosines: Array, points: Array, sets: Array, dimension: int, negligible: float, out: Array
) -> None:
    """Write the squared distance of points of unit norm from the leading directions of sets.

    With the eigenvalues l and eigenvectors v of a set's Gram matrix, and the products b of the
    point with the set, the squared length inside is the sum of ``(v'b)^2 / l``. Rotations that make
    the matrix diagonal turn b into all v'b, so that no eigenvector is formed. Directions with an
    eigenvalue up to `negligible` do not count. A set must be sorted; its repeated members and the
    point itself are left out.
    """
    size = sets.shape[1]
    gram, members = np.empty((size, size)), np.empty(size, dtype=np.int64)
    b, diagonal, beside = np.empty(size), np.empty(size), np.empty(size)
    work = np.empty((2, size))
    for p in range(len(points)):
        m = _distinct_members(sets[p], points[p], members)
        for a in range(m):
            b[a] = cosines[points[p], members[a]]
            for c in range(m):
                gram[a, c] = cosines[members[a], members[c]]
        _tridiagonalise(gram, b, m, diagonal, beside, work)
        _diagonalise(diagonal, beside, b, m)
        outside = 1.0
        for _ in range(min(dimension, m)):
            largest = np.argmax(diagonal[:m])
            if diagonal[largest] <= negligible:
                break
            outside -= b[largest] ** 2 / diagonal[largest]
            diagonal[largest] = -1.0
        out[p] = min(max(outside, 0.0), 1.0)


@leaf
def _distinct_members(sorted_set: Array, point: int, out: Array) -> int:
    """Write the members of a set without repetitions and without a point; return their number.

    The number comes from a call, so that functions of it are compiled for one type of integer.
    """
    m = 0
    for member in sorted_set:
        if member != point and (m == 0 or member != out[m - 1]):
            out[m] = member
            m += 1
    return m


@leaf
def _tridiagonalise(
    A: Array, b: Array, m: int, diagonal: Array, beside: Array, work: Array
) -> None:
    """Reflect a symmetric matrix of m rows to three diagonals, and the vector b along with it.

    A is overwritten. The reflection that clears row k is ``I - v v' / h``.
    """
    v, q = work
    for k in range(m - 1):
        squares = 0.0
        for j in range(k + 1, m):
            v[j] = A[k, j]
            squares += v[j] * v[j]
        diagonal[k] = A[k, k]
        beside[k] = v[k + 1]
        if squares == v[k + 1] * v[k + 1]:  # nothing to clear
            continue
        beside[k] = -np.copysign(np.sqrt(squares), v[k + 1])
        h = squares - beside[k] * v[k + 1]
        v[k + 1] -= beside[k]
        q[k + 1 : m] = 0.0
        along_b = 0.0
        for i in range(k + 1, m):
            along_b += v[i] * b[i]
            for j in range(k + 1, m):
                q[j] += v[i] * A[i, j]
        along = 0.0
        for j in range(k + 1, m):
            q[j] /= h
            along += v[j] * q[j]
        for j in range(k + 1, m):
            q[j] -= along / (2.0 * h) * v[j]
            b[j] -= along_b / h * v[j]
        for i in range(k + 1, m):
            for j in range(k + 1, m):
                A[i, j] -= v[i] * q[j] + q[i] * v[j]
    if m > 0:
        diagonal[m - 1] = A[m - 1, m - 1]


@leaf
def _diagonalise(diagonal: Array, beside: Array, b: Array, m: int) -> None:
    """Rotate a tridiagonal matrix to its eigenvalues, and the vector b along with it.

    It is the implicit QR algorithm with Wilkinson's shift (Golub, Van Loan, section 8.3).
    """
    largest = 0.0
    for k in range(m):
        largest = max(largest, abs(diagonal[k]))
    negligible = np.finfo(np.float64).eps * largest
    end = m - 1
    for _ in range(MOST_STEPS * m):
        while end > 0 and abs(beside[end - 1]) <= negligible:
            end -= 1
        if end <= 0:
            break
        start = end - 1
        while start > 0 and abs(beside[start - 1]) > negligible:
            start -= 1
        half = (diagonal[end - 1] - diagonal[end]) / 2.0
        corner = beside[end - 1]
        root = np.copysign(np.sqrt(half * half + corner * corner), half)
        x = diagonal[start] - (diagonal[end] - corner * corner / (half + root))
        z = beside[start]
        for k in range(start, end):
            r = np.sqrt(x * x + z * z)
            c, s = (x / r, z / r) if r > 0.0 else (1.0, 0.0)
            if k > start:
                beside[k - 1] = r
            upper, lower, between = diagonal[k], diagonal[k + 1], beside[k]
            diagonal[k] = c * c * upper + 2.0 * c * s * between + s * s * lower
            diagonal[k + 1] = s * s * upper - 2.0 * c * s * between + c * c * lower
            beside[k] = (c * c - s * s) * between + c * s * (lower - upper)
            b[k], b[k + 1] = c * b[k] + s * b[k + 1], c * b[k + 1] - s * b[k]
            if k < end - 1:
                x, z = beside[k], s * beside[k + 1]
                beside[k + 1] *= c
