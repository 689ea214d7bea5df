"""Alternating projections, after Zass and Shashua (2007)."""

import numpy as np

from dssc.result import ProjectionResult
from dssc.stochastic.affine import correction
from dssc.stochastic.outcome import dense_outcome


def solve(K, eta2: float, *, tol: float, max_iter: int, start=None) -> ProjectionResult:
    """Project on the marginals and on the nonnegative matrices in turn, from ``K / eta2``.

    Stops when the nonnegative iterate has its marginals right within `tol`. The limit is doubly
    stochastic, but in general not the nearest such matrix to the start: each projection forgets
    where the one before came from. Dykstra's method does find the nearest one; it adds to the
    matrix, before each projection on the nonnegative ones, what that projection took away the last
    time. The gap says how far from the nearest the result is. A primal method: `start` is not used.
    """
    A = K / eta2
    rows, columns = np.zeros(len(K)), np.zeros(len(K))
    for n_iter in range(1, max_iter + 1):  # noqa: B007
        add_rows, add_columns = correction(A)
        rows += add_rows
        columns += add_columns
        A += add_rows[:, None]
        A += add_columns
        np.maximum(A, 0.0, out=A)
        if max(np.abs(A.sum(axis=1) - 1).max(), np.abs(A.sum(axis=0) - 1).max()) <= tol:
            break
    return dense_outcome(
        K,
        A,
        (-eta2 * rows, -eta2 * columns),
        eta2,
        tol=tol,
        n_iter=n_iter,
        n_evaluations=n_iter,
        remedy="alternating projections need not end at the nearest matrix: use solver='newton'",
    )
