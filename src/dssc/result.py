"""What solvers return: an answer with the proof of how good it is."""

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class ProjectionResult:
    """A doubly stochastic matrix with the proof of how good it is.

    Attributes
    ----------
    plan : scipy.sparse.csr_array or ndarray of shape (n, n)
        The doubly stochastic A: sparse when at most a quarter of it is positive.
    potentials : tuple of two ndarrays of shape (n,)
        The dual variables (alpha, beta) with ``A = [K - alpha 1' - 1 beta']_+ / eta2``; one and the
        same vector twice when K is symmetric. Good warm starts for a nearby problem.
    eta2 : float
        The regularisation the plan belongs to.
    marginal_error : float
        Largest deviation from one among all row and column sums of A. It speaks for all n x n
        entries: those outside the solver's support are proved to be zero.
    gap : float
        Objective at A, rounded to exact feasibility, less the dual value, over ``max(1, |dual|)``.
    n_iter : int
        Iterations of the solver: Newton steps, over all supports tried, for the default one.
    n_evaluations : int
        Passes over the entries the solver holds: evaluations of the dual and products of conjugate
        gradients, or iterations of a primal method.
    n_rescanned : int
        Rows and columns the bound on omitted entries left open, so that they were read once more.
    converged : bool
        Whether both `marginal_error` and `gap` are at most the tolerance asked for.
    status : str
        A sentence that says how it ended and, where it fell short, what to change.
    """

    plan: Any
    potentials: tuple[np.ndarray, np.ndarray]
    eta2: float
    marginal_error: float
    gap: float
    n_iter: int
    n_evaluations: int
    n_rescanned: int
    converged: bool
    status: str


@dataclass(frozen=True)
class RepresentationResult:
    """A sparse self-expression with the proof of how good it is.

    Attributes
    ----------
    representation : scipy.sparse.csr_array of shape (n, n)
        The coefficients C, with ``X ≈ C X`` and nothing on the diagonal.
    violations : ndarray of shape (n,)
        A bound on the largest violation of an optimality condition, row by row: over the row's
        support and over all samples outside it.
    n_iter : ndarray of shape (n,)
        How often all samples were searched for a row.
    converged : bool
        Whether every violation is at most the tolerance asked for.
    status : str
        A sentence that says how it ended and, where it fell short, what to change.
    """

    representation: Any
    violations: np.ndarray
    n_iter: np.ndarray
    converged: bool
    status: str
