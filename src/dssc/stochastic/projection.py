"""The front door of the doubly stochastic projection."""

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from dssc._typing import Matrix
from dssc._validation import check_count, check_positive
from dssc._warnings import warn_user
from dssc.result import ProjectionResult
from dssc.stochastic.eta2_by_neighbors import project_to_neighbors
from dssc.stochastic.feasibility import check_support
from dssc.stochastic.offset import shifted, with_offset, without_offset
from dssc.stochastic.problem import ProjectionProblem, check_potentials, check_similarity
from dssc.stochastic.similarity import Potentials

# The paper's solvers: modules with a function `solve`.
SOLVERS = {
    "active-set": "active_set",
    "lbfgs": "lbfgs",
    "admm": "admm",
    "alternating": "alternating_projections",
}
# Default of `max_iter` for Newton's method.
NEWTON_STEPS = 1000
# Default of `max_iter` for the other solvers.
OTHER_ITERATIONS = 5000


def project_doubly_stochastic(
    K: ArrayLike | Matrix,
    eta2: float | None = None,
    *,
    n_neighbors: float | None = None,
    solver: str = "newton",
    support: Any = None,
    tol: float = 1e-8,
    max_iter: int | None = None,
    potentials: tuple[ArrayLike, ArrayLike] | None = None,
) -> ProjectionResult:
    r"""Project a similarity matrix onto the doubly stochastic matrices, with a certificate.

    Solves the projection of the paper,

    .. math:: \min_A \; -\langle K, A \rangle + \tfrac{\eta_2}{2} \|A\|_F^2
              \quad \text{subject to } A \ge 0, \; A 1 = 1, \; A^\top 1 = 1,

    which is the Euclidean projection of ``K / eta2``. Small `eta2` gives a sparse A and tends to
    the best permutation; large `eta2` gives a dense one and tends to ``1 / n``.

    Parameters
    ----------
    K : array-like or sparse matrix of shape (n, n)
        Similarities, of any sign. An absent entry of a sparse matrix is a similarity of zero, not
        a forbidden pair. When K is exactly symmetric, so is A.
    eta2 : float, optional
        Regularisation; must be positive. Give either `eta2` or `n_neighbors`.
    n_neighbors : float, optional
        Mean number of entries per row, off the diagonal and above 1e-9, that eta2 is searched for;
        with "newton" only. If no eta2 gives this number, the nearest one is taken. The `eta2` of
        the result is the one that was found.
    solver : {"newton", "active-set", "lbfgs", "admm", "alternating"}, default="newton"
        Semismooth Newton on a growing support, or one of the methods that the paper compares: its
        Algorithm 2, L-BFGS on the full dual, ADMM, alternating projections. Those hold K as an
        array.
    support : sparse matrix of shape (n, n), optional
        Its nonzeros are the only entries that A may use, (support_primal); with "newton" only. A
        pattern that contains no permutation raises an error that names a row.
    tol : float, default=1e-8
        Largest deviation of a row or column sum from one, and largest duality gap in units of
        ``eta2 * |A|_F^2``.
    max_iter : int, optional
        Most iterations. The default is 1000 Newton steps, or 5000 iterations of another solver.
    potentials : tuple of two array-likes of shape (n,), optional
        Where to start, such as the `potentials` of a result for a similar K or eta2. Used by the
        solvers of the dual.

    Returns
    -------
    ProjectionResult
        The plan, its potentials, and the certificate for the whole n x n problem.

    Notes
    -----
    Semismooth Newton maximises the dual on a support that grows until no entry outside of it can be
    positive, so the answer is exact for the full problem (Algorithm 2 with a faster inner solver).
    In float64 the entries of A are known up to about ``eps * max|K| / eta2``; the status says so
    where that floor is above `tol`.

    Examples
    --------
    >>> import numpy as np
    >>> from dssc import project_doubly_stochastic
    >>> result = project_doubly_stochastic(np.array([[0.0, 2.0], [2.0, 1.0]]), eta2=2.0)
    >>> np.round(result.plan, 3)
    array([[0.125, 0.875],
           [0.875, 0.125]])
    """
    _check_regularisation(eta2, n_neighbors, solver, potentials)
    tol = check_positive("tol", tol)
    K, offset = without_offset(check_similarity(K))
    if K.shape[0] != K.shape[1]:
        raise ValueError(f"K must be square; its shape is {K.shape}")
    start = check_potentials(potentials, K.shape)
    start = None if start is None else shifted(start, -offset)
    if solver == "newton":
        max_iter = NEWTON_STEPS if max_iter is None else check_count("max_iter", max_iter)
        if support is not None:
            ones = np.ones(K.shape[0])
            support = check_support(support, K.shape, (ones, ones))
        problem = ProjectionProblem.of_matrix(K, support=support)
        if eta2 is None:
            n_neighbors = _check_neighbors(n_neighbors, K.shape[0])
            result = project_to_neighbors(problem, n_neighbors, tol=tol, max_iter=max_iter)
        else:
            result = problem.solve(float(eta2), tol=tol, max_iter=max_iter, potentials=start)
    else:
        assert eta2 is not None
        result = _solve_by(solver, K, float(eta2), support, tol, max_iter, start)
    result = with_offset(result, offset, tol)
    if not result.converged:
        warn_user(result.status, ConvergenceWarning)
    return result


def _check_regularisation(
    eta2: float | None, n_neighbors: float | None, solver: str, potentials: Any
) -> None:
    """Check that one of eta2 and n_neighbors is given, with what goes with it."""
    if (eta2 is None) == (n_neighbors is None):
        raise ValueError(
            f"give either eta2 or n_neighbors; got eta2={eta2!r} and n_neighbors={n_neighbors!r}"
        )
    if eta2 is not None:
        check_positive("eta2", eta2)
    elif solver != "newton" or potentials is not None:
        raise ValueError(
            "n_neighbors is for solver='newton' without potentials; otherwise give eta2"
        )


def _check_neighbors(n_neighbors: float | None, n: int) -> float:
    value = check_positive("n_neighbors", n_neighbors)
    if value >= n:
        raise ValueError(f"n_neighbors={n_neighbors!r} must be below n={n}, the number of rows")
    return value


def _solve_by(
    solver: str,
    K: Matrix,
    eta2: float,
    support: Any,
    tol: float,
    max_iter: int | None,
    start: Potentials | None,
) -> ProjectionResult:
    if solver not in SOLVERS:
        names = ", ".join(repr(name) for name in ("newton", *SOLVERS))
        raise ValueError(f"solver={solver!r} must be one of {names}")
    if support is not None:
        raise ValueError(f"support is for solver='newton' only, not for solver={solver!r}")
    max_iter = OTHER_ITERATIONS if max_iter is None else check_count("max_iter", max_iter)
    K = K.toarray() if sparse.issparse(K) else K.astype(np.float64, copy=False)
    solve = import_module(f"dssc.stochastic.{SOLVERS[solver]}").solve
    return solve(K, eta2, tol=tol, max_iter=max_iter, start=start)
