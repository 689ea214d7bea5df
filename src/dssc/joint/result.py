"""What every solver of the joint model returns."""

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class JointResult:
    """A self-expression and a doubly stochastic affinity with the proof of how good they are.

    Attributes
    ----------
    representation : ndarray of shape (n, n)
        ``C = C_p - C_q``, with a zero diagonal.
    plan : scipy.sparse.csr_array or ndarray of shape (n, n)
        The affinity A.
    potentials : tuple of two ndarrays of shape (n,)
        Potentials (alpha, beta) of the projection of W, ``A = [W - alpha 1' - 1 beta']_+ / eta2``.
    objective : float
        The model's value at C and at A, rounded to exact double stochasticity, with the best W.
    dual : float
        A lower bound of the optimum, from a feasible point of the dual.
    gap : float
        ``(objective - dual) / max(1, |dual|)``: the relative error of the objective is at most
        this.
    history : ndarray of shape (n_records,)
        The model's value in the course of the iterations.
    seconds : ndarray of shape (n_records,)
        When each value of `history` was reached, from the start of the solver.
    marginal_error : float
        Largest deviation of a row or column sum of `plan` from one.
    residuals : tuple of two floats
        Largest violation of the constraints and largest violation of the optimality conditions, in
        the solver's own splitting (see its documentation).
    n_overlaps : int
        Pairs at which C_p and C_q are both positive.
    largest_overlap : float
        The largest ``min(C_p, C_q)``.
    n_iter : int
        Iterations of the solver.
    converged : bool
        Whether the tolerance was reached.
    status : str
        A sentence that says how it ended and, where it fell short, what to change.
    """

    representation: np.ndarray
    plan: Any
    potentials: tuple[np.ndarray, np.ndarray]
    objective: float
    dual: float
    gap: float
    history: np.ndarray
    seconds: np.ndarray
    marginal_error: float
    residuals: tuple[float, float]
    n_overlaps: int
    largest_overlap: float
    n_iter: int
    converged: bool
    status: str
