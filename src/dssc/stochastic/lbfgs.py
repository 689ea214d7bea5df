"""L-BFGS on the full dual, as Blondel, Seguy and Rolet (2018) solve smooth optimal transport."""

import numpy as np
from scipy.optimize import minimize

from dssc.result import ProjectionResult
from dssc.stochastic.outcome import dense_outcome

ROWS = 64  # evaluated at once: a block stays in cache
OPTIONS = {"ftol": 0.0, "maxcor": 10, "maxls": 50, "maxfun": 10**9}


def solve(K, eta2: float, *, tol: float, max_iter: int, start=None) -> ProjectionResult:
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
    return dense_outcome(
        K, A, potentials, eta2, tol=tol, n_iter=n_iter, n_evaluations=n_evaluations
    )


def maximise(evaluate, x, tol, max_iter):
    """Minimise a negative dual by L-BFGS; return the point, the iterations and the evaluations.

    Near the optimum its line search fails on rounding, with the gradient still too large. Starting
    again, with a clean memory and steepest descent, goes a little further while it helps at all.
    """
    n_iter = n_evaluations = 0
    error = np.inf
    while n_iter < max_iter:
        options = {**OPTIONS, "gtol": tol, "maxiter": max_iter - n_iter}
        found = minimize(evaluate, x, jac=True, method="L-BFGS-B", options=options)
        n_iter += int(found.nit)
        n_evaluations += int(found.nfev)
        previous, error = error, float(np.abs(found.jac).max())
        x = found.x if error < previous else x
        if error <= tol or not error < 0.9 * previous:
            break
    return x, n_iter, n_evaluations


def _evaluate(M, x):
    """Return the negative dual in units of eta2 and its gradient, one minus the marginals."""
    n = len(M)
    u, v = x[:n], x[n:]
    rows, columns, squares = np.empty(n), np.zeros(n), 0.0
    for first in range(0, n, ROWS):
        block = slice(first, first + ROWS)
        A = M[block] - u[block, None]
        A -= v
        np.maximum(A, 0.0, out=A)
        rows[block] = A.sum(axis=1)
        columns += A.sum(axis=0)
        squares += np.einsum("ij,ij->", A, A)  # threaded BLAS is slower on blocks this small
    return x.sum() + squares / 2, np.concatenate([1.0 - rows, 1.0 - columns])
