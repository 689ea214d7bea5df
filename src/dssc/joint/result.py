"""The result that every solver of the joint model returns."""

from dataclasses import dataclass

from dssc._typing import Array, Matrix


@dataclass(frozen=True)
class JointResult:
    """A self-expression and a doubly stochastic affinity, with a certificate of their quality.

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
        The model's value during the iterations.
    seconds : ndarray of shape (n_records,)
        Seconds from the start of the solver to each value of `history`.
    marginal_error : float
        Largest deviation of a row or column sum of `plan` from one.
    residuals : tuple of two floats
        Largest violation of the constraints and largest violation of the optimality conditions, in
        the solver's own splitting (see its documentation).
    n_overlaps : int
        Number of entries at which C_p and C_q are both positive.
    largest_overlap : float
        The largest ``min(C_p, C_q)``.
    n_iter : int
        Number of iterations of the solver.
    converged : bool
        Whether the tolerance was reached.
    status : str
        A sentence that says how the solver ended and, if it did not converge, what to change.
    """

    representation: Array
    plan: Matrix
    potentials: tuple[Array, Array]
    objective: float
    dual: float
    gap: float
    history: Array
    seconds: Array
    marginal_error: float
    residuals: tuple[float, float]
    n_overlaps: int
    largest_overlap: float
    n_iter: int
    converged: bool
    status: str
