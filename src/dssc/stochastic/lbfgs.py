"""L-BFGS on the full dual, as Blondel, Seguy and Rolet (2018) solve smooth optimal transport."""

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize
from sklearn.utils import gen_batches

from dssc._typing import Array
from dssc.result import ProjectionResult
from dssc.stochastic.outcome import dense_result
from dssc.stochastic.similarity import Potentials

# Rows that are evaluated at once: a block stays in cache.
ROWS = 64
OPTIONS = {"ftol": 0.0, "maxcor": 10, "maxls": 50, "maxfun": 10**9}


def solve(
    K: Array, eta2: float, *, tol: float, max_iter: int, start: Potentials | None = None
) -> ProjectionResult:
    """Maximise (dual), in units of eta2, until every row and column sums to one within `tol`.

    Each evaluation reads all n x n entries. Stops when the largest component of the gradient, the
    marginal error, is at most `tol`, or after `max_iter` iterations.
    """
    n = len(K)
    M = K / eta2
    x = np.zeros(2 * n) if start is None else np.concatenate(start) / eta2
    x, n_iter, n_evaluations = maximise(lambda x: _evaluate(M, x), x, tol, max_iter)
    potentials = eta2 * x[:n], eta2 * x[n:]
    A = np.maximum(M - x[:n, None] - x[None, n:], 0.0)
    return dense_result(K, A, potentials, eta2, tol=tol, n_iter=n_iter, n_evaluations=n_evaluations)


def maximise(
    evaluate: Callable[[Array], tuple[float, Array]], x: Array, tol: float, max_iter: int
) -> tuple[Array, int, int]:
    """Minimise a negative dual by L-BFGS; return the point, the iterations and the evaluations.

    Near the optimum its line search fails on rounding while the gradient is still too large.
    Starting again, without memory and with steepest descent, gets a little further; this is
    repeated as long as it helps.
    """
    n_iter = n_evaluations = 0
    error = np.inf
    while n_iter < max_iter:
        options = {**OPTIONS, "gtol": tol, "maxiter": max_iter - n_iter}
        outcome = minimize(evaluate, x, jac=True, method="L-BFGS-B", options=options)
        n_iter += int(outcome.nit)
        n_evaluations += int(outcome.nfev)
        previous, error = error, float(np.abs(outcome.jac).max())
        x = outcome.x if error < previous else x
        if error <= tol or not error < 0.9 * previous:
            break
    return x, n_iter, n_evaluations


def _evaluate(M: Array, x: Array) -> tuple[float, Array]:
    """Return the negative dual in units of eta2 and its gradient, one minus the marginals."""
    n = len(M)
    u, v = x[:n], x[n:]
    rows, columns, squares = np.empty(n), np.zeros(n), 0.0
    for block in gen_batches(n, ROWS):
        A = np.maximum(M[block] - u[block, None] - v, 0.0)
        rows[block] = A.sum(axis=1)
        columns += A.sum(axis=0)
        squares += np.einsum("ij,ij->", A, A)  # threaded BLAS is slower on blocks this small
    return x.sum() + squares / 2, np.concatenate([1.0 - rows, 1.0 - columns])
