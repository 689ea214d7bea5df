"""The front door of the doubly stochastic projection and its active-set loop."""

import warnings

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from dssc import kernels
from dssc._validation import check_count, check_positive
from dssc.result import ProjectionResult
from dssc.stochastic.certificate import dual_value, duality_gap, marginal_error
from dssc.stochastic.newton import solve_dual
from dssc.stochastic.similarity import DenseSimilarity, Similarity, SparseSimilarity
from dssc.stochastic.support import Support

# A plan with more positive entries than this part of n x n is returned as an array.
DENSE_SHARE = 0.25
# The smallest eta2 / max|K| solved for. Below it float64 no longer tells the entries of A apart,
# and A is the best permutation (or the mean of several) for all that can be seen.
RESOLUTION = 1e-12
LARGEST = 1e300


def project_doubly_stochastic(
    K, eta2: float, *, tol: float = 1e-8, max_iter: int = 1000, potentials=None
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
    tol : float, default=1e-8
        Largest deviation of a row or column sum from one, and largest relative duality gap.
    max_iter : int, default=1000
        Most Newton steps.
    potentials : tuple of two array-likes of shape (n,), optional
        Where to start, such as the `potentials` of a result for a nearby K or eta2.

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
    max_iter = check_count("max_iter", max_iter)
    problem = ProjectionProblem(K)
    start = None if potentials is None else _check_potentials(potentials, problem.similarity.n)
    result = problem.solve(eta2, tol=tol, max_iter=max_iter, potentials=start)
    if not result.converged:
        warnings.warn(result.status, ConvergenceWarning, stacklevel=2)
    return result


class ProjectionProblem:
    """A similarity matrix to be projected, perhaps for several eta2: the support is kept."""

    def __init__(self, K, device: str = "cpu"):
        self._kernels = kernels.select(device)
        self.similarity: Similarity = _check_similarity(K, self._kernels)
        self._support: Support | None = None

    def solve(
        self, eta2: float, *, tol: float = 1e-8, max_iter: int = 1000, potentials=None
    ) -> ProjectionResult:
        """Grow the support until the restricted optimum is proved optimal for all of K."""
        K = self.similarity
        wanted, eta2 = eta2, max(eta2, RESOLUTION * K.largest)
        support = self._support or K.first_support(eta2)
        start = None if potentials is None else support.join(potentials)
        n_iter = n_rescanned = 0
        while True:
            solution = solve_dual(
                support.graph, eta2, start, tol / 2, max_iter - n_iter, self._kernels
            )
            n_iter += solution.n_iter
            potentials = support.split(solution.potentials)
            rows, columns, n_read = K.missing(support, potentials)
            n_rescanned += n_read
            if len(rows) == 0 or n_iter >= max_iter:
                break
            support = support.extended(rows, columns, K.at(rows, columns))
            start = solution.potentials
        self._support = support
        A = support.plan(solution.slack)
        error = marginal_error(A)
        gap = duality_gap(A, K.at, potentials, eta2, dual_value(A, potentials, eta2))
        converged = error <= tol and gap <= tol and len(rows) == 0 and eta2 == wanted
        status = _status(converged, error, gap, tol, n_iter)
        if len(rows):
            status += f"; {len(rows)} entries outside the support were still positive"
        floor = np.finfo(float).eps * K.largest / wanted
        if floor > tol / 10:
            status += f"; float64 resolves A only to eps*max|K|/eta2 = {floor:.1e}: raise eta2"
        if eta2 != wanted:
            status += f"; solved for eta2={eta2:.3g} instead of {wanted:.3g}"
        return ProjectionResult(
            plan=A if A.nnz <= DENSE_SHARE * K.n**2 else A.toarray(),
            potentials=potentials,
            eta2=eta2,
            marginal_error=error,
            gap=gap,
            n_iter=n_iter,
            n_rescanned=n_rescanned,
            converged=converged,
            status=status,
        )


def _status(converged, error, gap, tol, n_iter):
    text = f"marginal error {error:.1e} and gap {gap:.1e}"
    if converged:
        return f"converged: {text} <= tol={tol:.1e} after {n_iter} Newton steps"
    return (
        f"not converged: {text}, wanted tol={tol:.1e}, after {n_iter} Newton steps; "
        "raise max_iter or eta2"
    )


def _check_similarity(K, k) -> Similarity:
    if not sparse.issparse(K):
        K = np.asarray(K)
        if K.dtype != np.float32:
            K = np.asarray(K, dtype=np.float64)
    if K.ndim != 2 or K.shape[0] != K.shape[1] or K.shape[0] == 0:
        raise ValueError(f"K must be a square matrix with at least one row; its shape is {K.shape}")
    values = K.data if sparse.issparse(K) else K
    if not np.isfinite(np.sum(values)) and not np.all(np.isfinite(values)):
        n_bad = np.count_nonzero(~np.isfinite(values))
        raise ValueError(f"K holds {n_bad} NaN or infinite entries; replace or remove them")
    similarity: Similarity = SparseSimilarity(K) if sparse.issparse(K) else DenseSimilarity(K, k)
    if similarity.largest > LARGEST:
        raise ValueError(f"max|K| = {similarity.largest:.3g} is too large; rescale K and eta2")
    return similarity


def _check_potentials(potentials, n):
    checked = tuple(np.asarray(p, dtype=np.float64) for p in potentials)
    if len(checked) != 2 or any(p.shape != (n,) for p in checked):
        shapes = [p.shape for p in checked]
        raise ValueError(f"potentials must be two vectors of length n={n}; got shapes {shapes}")
    if not all(np.all(np.isfinite(p)) for p in checked):
        raise ValueError("potentials hold NaN or infinite values; leave them out to start afresh")
    return checked
