"""From what a solver computed to a result that says how good it is."""

import numpy as np
from scipy import sparse

from dssc._typing import Array, Matrix
from dssc.result import ProjectionResult
from dssc.stochastic.certificate import dense_gap, marginal_error

# A plan with more positive entries than this share of the matrix is returned as an array.
DENSE_SHARE = 0.25


def compact(A: Matrix) -> Matrix:
    """Return a plan in the form that takes less memory."""
    n_positive = A.nnz if sparse.issparse(A) else np.count_nonzero(A)
    if n_positive <= DENSE_SHARE * A.shape[0] * A.shape[1]:
        return sparse.csr_array(A)
    return A.toarray() if sparse.issparse(A) else A


def status_text(
    converged: bool, error: float, gap: float, tol: float, n_iter: int, steps: str, remedy: str
) -> str:
    """Return the sentence that says how a solver ended."""
    text = f"marginal error {error:.1e} and gap {gap:.1e}"
    if converged:
        return f"converged: {text} <= tol={tol:.1e} after {n_iter} {steps}"
    return f"not converged: {text}, wanted tol={tol:.1e}, after {n_iter} {steps}; {remedy}"


def newton_remedy(n_iter: int, max_iter: int) -> str:
    """Return what to change if Newton's method did not reach the tolerance."""
    if n_iter < max_iter:
        return "rounding in float64 allows no more; raise tol or eta2"
    return "raise max_iter or eta2"


def subnormal_remedy(eta2: float, tol: float) -> str:
    """Return what to change if potentials are too close to zero to determine A; "" if they are not.

    Numbers next to zero are multiples of the smallest one, and so are differences of K and of
    potentials.
    """
    step = float(np.finfo(float).smallest_subnormal) / eta2
    if step <= tol:
        return ""
    return (
        f"potentials of eta2={eta2:.1e} are subnormal numbers that resolve A only to {step:.1e}: "
        "multiply K and eta2 by the same factor"
    )


def dense_result(
    K: Array,
    A: Array,
    potentials: tuple[Array, Array],
    eta2: float,
    *,
    tol: float,
    n_iter: int,
    n_evaluations: int,
    remedy: str = "raise max_iter or eta2",
) -> ProjectionResult:
    """Certify a plan given as an array, from any solver."""
    ones = np.ones(len(K))
    error = marginal_error(A, (ones, ones))
    gap = dense_gap(K, A, potentials, eta2, tol)
    subnormal = subnormal_remedy(eta2, tol)
    converged = error <= tol and gap <= tol and not subnormal
    return ProjectionResult(
        plan=compact(A),
        potentials=potentials,
        eta2=eta2,
        marginal_error=error,
        gap=gap,
        n_iter=n_iter,
        n_evaluations=n_evaluations,
        n_rescanned=0,
        converged=converged,
        status=status_text(converged, error, gap, tol, n_iter, "iterations", subnormal or remedy),
    )
