"""What solvers return: a solution together with what is proved about its quality."""

from dataclasses import dataclass

from dssc._typing import Array, Matrix


@dataclass(frozen=True)
class ProjectionResult:
    """A doubly stochastic matrix with the proof of its quality.

    Attributes
    ----------
    plan : scipy.sparse.csr_array or ndarray of shape (n, n)
        The doubly stochastic matrix A, sparse if at most a quarter of it is positive.
    potentials : tuple of two ndarrays of shape (n,)
        The dual variables (alpha, beta) with ``A = [K - alpha 1' - 1 beta']_+ / eta2``. If K is
        symmetric, both are the same vector. They are good warm starts for a nearby problem.
    eta2 : float
        The regularisation of the problem.
    marginal_error : float
        Largest deviation from one among all row and column sums of A. It covers all n x n
        entries: those outside of the solver's support are proved to be zero. If points have
        weights, their sums are divided by these.
    gap : float
        Objective at A, rounded to exact feasibility, minus the dual value, divided by
        ``eta2 * |A|_F^2``. So ``|A - A*|_F^2 <= 2 * gap * |A|_F^2`` for that A and the optimum A*,
        whatever the scale of K and whatever is added to its rows and columns.
    n_iter : int
        Iterations of the solver. For the default solver, Newton steps over all supports tried.
    n_evaluations : int
        Passes over the entries that the solver holds: evaluations of the dual and products of
        conjugate gradients, or iterations of a primal method.
    n_rescanned : int
        Rows and columns for which the bound on omitted entries did not suffice, so that they were
        computed again.
    converged : bool
        Whether both `marginal_error` and `gap` are at most the tolerance.
    status : str
        A sentence that says how the solver ended and, if it fell short, what to change.
    """

    plan: Matrix
    potentials: tuple[Array, Array]
    eta2: float
    marginal_error: float
    gap: float
    n_iter: int
    n_evaluations: int
    n_rescanned: int
    converged: bool
    status: str

    def in_main_memory(self) -> "ProjectionResult":
        """Return the result without what an engine holds on a device for it."""
        return self


@dataclass(frozen=True)
class RepresentationResult:
    """A sparse self-expression with what is known about its quality.

    A field that has no meaning for a method is None.

    Attributes
    ----------
    representation : scipy.sparse.csr_array of shape (n, n)
        The matrix C, with a zero diagonal: coefficients with ``X ≈ C X``, or the similarities of
        TSC.
    violations : ndarray of shape (n,), or None
        For each row, a bound on the largest violation of an optimality condition, over all samples.
        Only a convex problem has such conditions: greedy pursuits and thresholding have None.
    residuals : ndarray of shape (n,), or None
        For each row, the relative error ``|x_i - C_i X| / |x_i|``, and zero if x_i is zero. The
        similarities of TSC do not reconstruct the samples, and have None.
    n_iter : ndarray of shape (n,)
        Iterations for each row. The function that returns the result says what an iteration is.
    converged : bool
        Whether every violation is at most the tolerance. Methods without violations take a fixed
        number of steps, and are always finished.
    status : str
        A sentence that says how the solver ended and, if it fell short, what to change.
    """

    representation: Matrix
    violations: Array | None
    residuals: Array | None
    n_iter: Array
    converged: bool
    status: str
