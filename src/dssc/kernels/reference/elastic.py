"""The elastic net problems of the rows, each solved by coordinate descent."""

import numpy as np

from dssc._typing import Array

# Coordinate descent ends when no coefficient changes by more than this.
PRECISION = 1e-13


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

    Of a row with more nonzeros than `support` has columns, only ``fits[row] = False`` is written.
    """
    for row, i in enumerate(own):
        members = np.union1d(support[row, : sizes[row]], candidates[row])
        members = members[members >= 0]
        c = _coordinate_descent(X[members], X[i], max(eta1, ridge), eta3)
        nonzero = np.flatnonzero(c)
        fits[row] = len(nonzero) <= support.shape[1]
        if fits[row]:
            sizes[row] = len(nonzero)
            support[row, : sizes[row]] = members[nonzero]
            coefficients[row, : sizes[row]] = c[nonzero]
            residuals[row] = X[i] - c @ X[members]
            products = X[members] @ residuals[row]
            on_support = np.abs(products - eta1 * c - eta3 * np.sign(c))
            violation = np.where(c != 0.0, on_support, np.abs(products) - eta3)
            violations[row] = violation.max(initial=0.0)


def _coordinate_descent(atoms: Array, x: Array, penalty: float, eta3: float) -> Array:
    """Minimise ``|x - c atoms|^2 / 2 + penalty |c|^2 / 2 + eta3 |c|_1``."""
    c = np.zeros(len(atoms))
    while True:
        before = c.copy()
        for j, atom in enumerate(atoms):
            c[j] = 0.0
            product = atom @ (x - c @ atoms)
            c[j] = np.sign(product) * max(abs(product) - eta3, 0.0) / (atom @ atom + penalty)
        if np.abs(c - before).max(initial=0.0) <= PRECISION:
            return c
