"""One step of orthogonal matching pursuit for many samples.

Each sample has its own support, and the Cholesky factor of the Gram matrix of its atoms. The prior
is a sparse matrix with one row per sample, in CSR form.
"""

import numpy as np
from numba import prange

from dssc._typing import Array
from dssc.kernels.arithmetic import dot
from dssc.kernels.compiling import leaf, parallel
from dssc.kernels.l1_quadratic import substitute

# An atom with a smaller pivot, relative to its squared norm, depends on the atoms of the support.
DEPENDENT = 1e-12


@leaf
def _entry(indices: Array, values: Array, start: int, stop: int, j: int) -> float:
    """Return entry j of the sparse row that is stored from `start` to `stop`."""
    for e in range(start, stop):
        if indices[e] == j:
            return values[e]
    return 0.0


@leaf
def _best_atom(
    X: Array,
    r: Array,
    products: Array,
    error: float,
    damping: float,
    indices: Array,
    values: Array,
    start: int,
    stop: int,
) -> int:
    """Return the atom with the largest ``|x_j . r + damping prior_j|`` in float64, or -1.

    `products` holds these numbers up to `error`, and NaN where an atom must not be taken. Only the
    atoms within twice that error of the largest are computed in float64. Ties go to the first.
    """
    largest = 0.0
    for j in range(len(products)):
        if abs(products[j]) > largest:
            largest = abs(products[j])
    best, best_value = -1, 0.0
    if largest > 0.0:
        for j in range(len(products)):
            if abs(products[j]) >= largest - 2.0 * error:
                value = abs(dot(X[j], r) + damping * _entry(indices, values, start, stop, j))
                if value > best_value:
                    best, best_value = j, value
    return best


@leaf
def _extend(X: Array, support: Array, size: int, atom: int, damping: float, factor: Array) -> bool:
    """Append an atom to the factor of ``X_S X_S' + damping I``, unless it is dependent.

    Returns whether it was appended.
    """
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
def _fit(
    X: Array,
    x: Array,
    support: Array,
    size: int,
    damping: float,
    indices: Array,
    values: Array,
    start: int,
    stop: int,
    factor: Array,
    c: Array,
    r: Array,
) -> None:
    """Solve for the coefficients on the support and write the residual."""
    for a in range(size):
        c[a] = dot(X[support[a]], x)
        c[a] += damping * _entry(indices, values, start, stop, support[a])
    substitute(factor, size, c)
    r[:] = x
    for a in range(size):
        row = X[support[a]]
        for e in range(len(r)):
            r[e] -= c[a] * row[e]


@parallel
def pursue(
    X: Array,
    targets: Array,
    own: Array,
    rows: Array,
    products: Array,
    errors: Array,
    damping: float,
    prior_indptr: Array,
    prior_indices: Array,
    prior_values: Array,
    tol: float,
    factors: Array,
    support: Array,
    coefficients: Array,
    sizes: Array,
    residuals: Array,
    unfinished: Array,
) -> None:
    """Add one atom to the support of each of the samples `rows`, and solve again.

    With atoms X, sample x and prior b, the coefficients c on the support minimise
    ``|x - c X|^2 + damping |c - b|^2``. `own` holds the atom that is the sample itself, which is
    not taken, or -1. Row q of `products` holds the products of all atoms with the residual of
    sample ``rows[q]``, up to ``errors[q]``; it is overwritten. ``unfinished[q]`` is set where an
    atom was added and the norm of the residual is still above `tol` times that of the sample.
    """
    for q in prange(len(rows)):
        i = rows[q]
        row, r, x = products[q], residuals[i], targets[i]
        start, stop = prior_indptr[i], prior_indptr[i + 1]
        for e in range(start, stop):
            row[prior_indices[e]] += damping * prior_values[e]
        # Comparisons with NaN are false, so an entry set to NaN is never taken.
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
