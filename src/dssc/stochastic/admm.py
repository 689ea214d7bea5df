"""ADMM on the primal, after Rontsis and Goulart (2020)."""

import numpy as np

from dssc._typing import Array
from dssc.result import ProjectionResult
from dssc.stochastic.marginal_correction import correction
from dssc.stochastic.outcome import dense_result
from dssc.stochastic.similarity import Potentials

# Weight of the augmented Lagrangian, in units of eta2.
RHO = 1.0
# Over-relaxation of X.
RELAXATION = 1.6
# Iterations between two checks of the errors.
CHECKED_EVERY = 10


def solve(
    K: Array, eta2: float, *, tol: float, max_iter: int, start: Potentials | None = None
) -> ProjectionResult:
    """Split (jminA) into a projection on the marginals and one on the nonnegative matrices.

    In units of eta2, with M = K / eta2, X carries ``1/2 |X - M|^2`` and the marginals, Z >= 0 is
    returned, and U is the scaled dual of X = Z. Stops when the marginals of Z and the difference of
    X and Z are right within `tol`. A primal method: `start` is not used.
    """
    M = K / eta2
    Z, U, X, relaxed = (np.zeros_like(M) for _ in range(4))
    for n_iter in range(1, max_iter + 1):
        np.subtract(Z, U, out=X)
        X *= RHO
        X += M
        X /= 1 + RHO
        rows, columns = correction(X)
        X += rows[:, None]
        X += columns
        np.multiply(X, RELAXATION, out=relaxed)
        Z *= 1 - RELAXATION
        relaxed += Z
        relaxed += U
        np.maximum(relaxed, 0.0, out=Z)
        np.subtract(relaxed, Z, out=U)
        if (n_iter % CHECKED_EVERY == 0 or n_iter == max_iter) and _error(X, Z, relaxed) <= tol:
            break
    # At the optimum M - X - rho U is the sum of the potentials, and so is this.
    scale = -(1 + RHO) * eta2
    potentials = scale * rows, scale * columns
    return dense_result(K, Z, potentials, eta2, tol=tol, n_iter=n_iter, n_evaluations=n_iter)


def _error(X: Array, Z: Array, scratch: Array) -> float:
    np.subtract(X, Z, out=scratch)
    np.abs(scratch, out=scratch)
    return max(scratch.max(), *(np.abs(Z.sum(axis=axis) - 1).max() for axis in (0, 1)))
