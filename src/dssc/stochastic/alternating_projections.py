"""Alternating projections, after Zass and Shashua (2007)."""

import numpy as np

from dssc._typing import Array
from dssc.result import ProjectionResult
from dssc.stochastic.marginal_correction import correction
from dssc.stochastic.outcome import dense_result
from dssc.stochastic.similarity import Potentials


def solve(
    K: Array, eta2: float, *, tol: float, max_iter: int, start: Potentials | None = None
) -> ProjectionResult:
    """Project on the marginals and on the nonnegative matrices in turn, from ``K / eta2``.

    Stops when the marginals of the nonnegative iterate are right within `tol`. The limit is doubly
    stochastic, but in general not the nearest such matrix to the start: each projection forgets
    where the previous one came from. Dykstra's method does find the nearest one; before each
    projection on the nonnegative matrices it adds what that projection took away the last time.
    The gap says how far from the nearest matrix the result is. A primal method: `start` is not
    used.
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
    return dense_result(
        K,
        A,
        (-eta2 * rows, -eta2 * columns),
        eta2,
        tol=tol,
        n_iter=n_iter,
        n_evaluations=n_iter,
        remedy="alternating projections need not end at the nearest matrix: use solver='newton'",
    )
