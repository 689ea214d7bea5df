"""One step of orthogonal matching pursuit for many rows, each with a Cholesky factor of its own."""

import numpy as np
from numba import prange

from dssc.kernels._numba.arithmetic import dot
from dssc.kernels._numba.compiling import leaf, parallel

DEPENDENT = 1e-12  # a pivot of less, relative to the atom, adds nothing to the atoms chosen


@leaf
def _pull(indices, values, start, stop, j):
    """Return the entry j of a sparse row."""
    for e in range(start, stop):
        if indices[e] == j:
            return values[e]
    return 0.0


@leaf
def _best_atom(X, r, products, error, damping, indices, values, start, stop):
    """Return the atom with the largest ``|x_j . r + damping prior_j|``, decided in float64.

    `products` hold this quantity up to an error, NaN where an atom must not be taken; only those
    within twice that error of the largest are computed again. Of equals the first is taken.
    """
    largest = 0.0
    for j in range(len(products)):
        if abs(products[j]) > largest:
            largest = abs(products[j])
    best, best_value = -1, 0.0
    if largest > 0.0:
        for j in range(len(products)):
            if abs(products[j]) >= largest - 2.0 * error:
                value = abs(dot(X[j], r) + damping * _pull(indices, values, start, stop, j))
                if value > best_value:
                    best, best_value = j, value
    return best


@leaf
def _extend(X, support, size, atom, damping, factor):
    """Append an atom to the factor of ``X_S X_S' + damping I``; return if it is independent."""
    row = factor[size]
    for a in range(size):
        row[a] = (dot(X[support[a]], X[atom]) - dot(factor[a, :a], row[:a])) / factor[a, a]
    square = dot(X[atom], X[atom]) + damping
    pivot = square - dot(row[:size], row[:size])
    if pivot <= DEPENDENT * square:
        return False
    row[size] = np.sqrt(pivot)
    support[size] = atom
    return True


@leaf
def _fit(X, x, support, size, damping, indices, values, start, stop, factor, c, r):
    """Solve for the coefficients on the support and write the residual."""
    for a in range(size):
        c[a] = dot(X[support[a]], x)
        c[a] += damping * _pull(indices, values, start, stop, support[a])
        c[a] = (c[a] - dot(factor[a, :a], c[:a])) / factor[a, a]
    for a in range(size - 1, -1, -1):
        c[a] /= factor[a, a]
        for b in range(a):
            c[b] -= factor[a, b] * c[a]
    r[:] = x
    for a in range(size):
        row = X[support[a]]
        for e in range(len(r)):
            r[e] -= c[a] * row[e]


@parallel
def pursue(
    X,
    targets,
    own,
    rows,
    products,
    errors,
    damping,
    prior_indptr,
    prior_indices,
    prior_values,
    tol,
    factors,
    support,
    coefficients,
    sizes,
    residuals,
    unfinished,
):
    """Add one atom to each of the `rows` and solve again.

    X holds the atoms, `targets` the samples, `own` the atom that is the sample itself or -1. The
    products of residuals and atoms, one row for each of `rows`, are overwritten. `unfinished` says
    which rows may go on: those that found an atom and whose residual is longer than `tol` of the
    sample.
    """
    for q in prange(len(rows)):
        i = rows[q]
        row, r, x = products[q], residuals[i], targets[i]
        start, stop = prior_indptr[i], prior_indptr[i + 1]
        for e in range(start, stop):
            row[prior_indices[e]] += damping * prior_values[e]
        # NaN loses every comparison, so what it marks is never taken.
        if own[i] >= 0:
            row[own[i]] = np.nan
        for a in range(sizes[i]):
            row[support[i, a]] = np.nan
        atom = _best_atom(X, r, row, errors[q], damping, prior_indices, prior_values, start, stop)
        unfinished[q] = atom >= 0 and _extend(X, support[i], sizes[i], atom, damping, factors[i])
        if unfinished[q]:
            sizes[i] += 1
            _fit(
                X, x, support[i], sizes[i], damping, prior_indices, prior_values, start, stop,
                factors[i], coefficients[i], r,
            )  # fmt: skip
            unfinished[q] = dot(r, r) > tol * tol * dot(x, x)
