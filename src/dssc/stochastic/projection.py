"""The front door of the doubly stochastic projection."""

import warnings
from importlib import import_module

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from dssc._validation import check_count, check_positive
from dssc.result import ProjectionResult
from dssc.stochastic.feasibility import check_support
from dssc.stochastic.problem import ProjectionProblem, check_potentials, check_similarity

# The paper's solvers: modules with a function `solve`.
SOLVERS = {
    "active-set": "active_set",
    "lbfgs": "lbfgs",
    "admm": "admm",
    "alternating": "alternating",
}
NEWTON_STEPS, OTHER_ITERATIONS = 1000, 5000  # at most, when not given


def project_doubly_stochastic(
    K, eta2: float, *, solver="newton", support=None, tol=1e-8, max_iter=None, potentials=None
) -> ProjectionResult:
    r"""Project a similarity matrix onto the doubly stochastic matrices, with a certificate.

    Solves (jminA) of the paper,

    .. math:: \min_A \; -\langle K, A \rangle + \tfrac{\eta_2}{2} \|A\|_F^2
              \quad \text{subject to } A \ge 0, \; A 1 = 1, \; A^\top 1 = 1,

    which is the Euclidean projection of ``K / eta2``. Small `eta2` gives a sparse A and tends to
    the best permutation; large `eta2` gives a dense one and tends to ``1 / n``.

    Parameters
    ----------
    K : array-like or sparse matrix of shape (n, n)
        Similarities, of any sign. An absent entry of a sparse matrix is a similarity of zero, not
        a forbidden pair. When K is exactly symmetric, so is A.
    eta2 : float
        Regularisation, positive.
    solver : {"newton", "active-set", "lbfgs", "admm", "alternating"}, default="newton"
        Semismooth Newton on a growing support, or one of the methods the paper compares: its
        Algorithm 2, the full dual, ADMM, alternating projections. Those hold K as an array.
    support : sparse matrix of shape (n, n), optional
        Its nonzeros are the only entries A may use, (support_primal); with "newton" only. A pattern
        that holds no permutation is an error that names a row.
    tol : float, default=1e-8
        Largest deviation of a row or column sum from one, and largest relative duality gap.
    max_iter : int, optional
        Most iterations: 1000 Newton steps, or 5000 iterations of another solver.
    potentials : tuple of two array-likes of shape (n,), optional
        Where to start, such as the `potentials` of a result for a nearby K or eta2. Used by the
        solvers of the dual.

    Returns
    -------
    ProjectionResult
        The plan, its potentials, and the certificate for the whole n x n problem.

    Notes
    -----
    The dual is maximised by semismooth Newton on a support that grows until no entry outside it can
    be positive, so the answer is exact for the full problem (Algorithm 2 with a faster inside).
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
    eta2 = check_positive("eta2", eta2)
    tol = check_positive("tol", tol)
    K = check_similarity(K)
    if K.shape[0] != K.shape[1]:
        raise ValueError(f"K must be square; its shape is {K.shape}")
    start = check_potentials(potentials, K.shape)
    if solver == "newton":
        max_iter = NEWTON_STEPS if max_iter is None else check_count("max_iter", max_iter)
        if support is not None:
            ones = np.ones(K.shape[0])
            support = check_support(support, K.shape, (ones, ones))
        problem = ProjectionProblem(K, support=support)
        result = problem.solve(eta2, tol=tol, max_iter=max_iter, potentials=start)
    else:
        result = _solve_by(solver, K, eta2, support, tol, max_iter, start)
    if not result.converged:
        warnings.warn(result.status, ConvergenceWarning, stacklevel=2)
    return result


def _solve_by(solver, K, eta2, support, tol, max_iter, start):
    if solver not in SOLVERS:
        names = ", ".join(repr(name) for name in ("newton", *SOLVERS))
        raise ValueError(f"solver={solver!r} must be one of {names}")
    if support is not None:
        raise ValueError(f"support is for solver='newton' only, not for solver={solver!r}")
    max_iter = OTHER_ITERATIONS if max_iter is None else check_count("max_iter", max_iter)
    K = K.toarray() if sparse.issparse(K) else K.astype(np.float64, copy=False)
    solve = import_module(f"dssc.stochastic.{SOLVERS[solver]}").solve
    return solve(K, eta2, tol=tol, max_iter=max_iter, start=start)
