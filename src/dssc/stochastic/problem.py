"""The active-set loop with Newton inside: the solver behind both front doors."""

import numpy as np
from scipy import sparse

from dssc import kernels
from dssc.result import ProjectionResult
from dssc.stochastic.bounded import DenseSimilarity
from dssc.stochastic.certificate import dual_value, duality_gap, marginal_error, pair_off
from dssc.stochastic.newton import solve_dual
from dssc.stochastic.outcome import compact, status_of
from dssc.stochastic.similarity import RestrictedSimilarity, Similarity, SparseSimilarity
from dssc.stochastic.support import Support

# The smallest eta2 / max|K| solved for. Below it float64 no longer tells the entries of A apart,
# and A is the best permutation (or the mean of several) for all that can be seen.
RESOLUTION = 1e-12
LARGEST = 1e300


class ProjectionProblem:
    """A similarity matrix to be projected, perhaps for several eta2: the support is kept.

    K comes as `check_similarity` returns it, or as an object that stands for a matrix too large to
    hold: the front doors check, this trusts.
    Marginals are worked with in units of the mean row sum, so that tolerances mean the same
    whatever their scale; for a doubly stochastic plan that unit is one.
    """

    def __init__(self, K, marginals=None, support=None, device: str = "cpu"):
        self._kernels = kernels.select(device)
        similarity = self._similarity_of(K)
        if support is not None:
            similarity = RestrictedSimilarity(similarity, support)
        a, b = marginals or (np.ones(K.shape[0]), np.ones(K.shape[1]))
        self.unit = float(a.mean())
        self.marginals = a / self.unit, b / self.unit
        similarity.symmetric = similarity.symmetric and np.array_equal(a, b)
        self.similarity = similarity
        self._support: Support | None = None

    def _similarity_of(self, K) -> Similarity:
        if isinstance(K, Similarity):
            return K
        similarity: Similarity
        if sparse.issparse(K):
            similarity = SparseSimilarity(K)
        else:
            similarity = DenseSimilarity(K, self._kernels)
        if similarity.largest > LARGEST:
            raise ValueError(f"max|K| = {similarity.largest:.3g} is too large; rescale K and eta2")
        return similarity

    def solve(
        self, eta2: float, *, tol: float = 1e-8, max_iter: int = 1000, potentials=None
    ) -> ProjectionResult:
        """Grow the support until the restricted optimum is proved optimal for all of K."""
        K = self.similarity
        eta = max(eta2 * self.unit, RESOLUTION * K.largest)
        feasible = pair_off(*self.marginals)[:2]
        support, potentials, n_rescanned = K.start(eta, feasible, self._support, potentials)
        start = None if potentials is None else support.join(potentials)
        n_iter = n_evaluations = 0
        dual_tol = tol / 2
        while True:
            solution = solve_dual(
                support.graph,
                support.targets(self.marginals),
                eta,
                start,
                dual_tol,
                max_iter - n_iter,
                self._kernels,
            )
            n_iter += solution.n_iter
            n_evaluations += solution.n_evaluations
            potentials = support.split(solution.potentials)
            rows, columns, values, n_read = K.missing(support, potentials, eta)
            n_rescanned += n_read
            start = solution.potentials
            if len(rows) and n_iter < max_iter:
                support = support.extended(rows, columns, values)
                continue
            A = support.plan(solution.slack)
            error = marginal_error(A, self.marginals)
            dual = dual_value(A, potentials, self.marginals, eta)
            gap = duality_gap(A, K.at, potentials, self.marginals, eta, dual)
            if gap <= tol or n_iter >= max_iter or dual_tol < tol / 1000:
                break
            dual_tol /= 10  # far potentials turn a small error of a sum into a large gap
        # What the last reading found belongs to the support even if there was no time to use it.
        self._support = support.extended(rows, columns, values) if len(rows) else support
        converged = error <= tol and gap <= tol and len(rows) == 0 and eta == eta2 * self.unit
        status = status_of(
            converged, error, gap, tol, n_iter, "Newton steps", "raise max_iter or eta2"
        )
        return ProjectionResult(
            plan=compact(A * self.unit),
            potentials=potentials,
            eta2=eta / self.unit,
            marginal_error=error,
            gap=gap,
            n_iter=n_iter,
            n_evaluations=n_evaluations,
            n_rescanned=n_rescanned,
            converged=converged,
            status=status + self._remarks(eta2, eta, tol, len(rows)),
        )

    def _remarks(self, eta2, eta, tol, n_missing):
        """Return what else a reader of the status must know."""
        text = f"; {n_missing} entries outside the support were still positive" * (n_missing > 0)
        floor = np.finfo(float).eps * self.similarity.largest / (eta2 * self.unit)
        if floor > tol / 10:
            text += f"; float64 resolves A only to eps*max|K|/eta2 = {floor:.1e}: raise eta2"
        if eta != eta2 * self.unit:
            text += f"; solved for eta2={eta / self.unit:.3g} instead of {eta2:.3g}"
        return text


def check_similarity(K):
    """Return K as an array of floats, or as a float64 CSR matrix with sorted, unique entries."""
    if sparse.issparse(K):
        K = sparse.csr_array(K, dtype=np.float64)
        K.sum_duplicates()  # sorts the rows too
    else:
        K = np.asarray(K)
        K = K if K.dtype == np.float32 else np.asarray(K, dtype=np.float64)
    if K.ndim != 2 or 0 in K.shape:
        raise ValueError(f"K must be a matrix with rows and columns; its shape is {K.shape}")
    values = K.data if sparse.issparse(K) else K
    if not np.isfinite(np.sum(values)) and not np.all(np.isfinite(values)):
        n_bad = np.count_nonzero(~np.isfinite(values))
        raise ValueError(f"K holds {n_bad} NaN or infinite entries; replace or remove them")
    return K


def check_potentials(potentials, shape):
    """Return two vectors of potentials that fit a matrix, or None."""
    if potentials is None:
        return None
    checked = tuple(np.asarray(p, dtype=np.float64) for p in potentials)
    if [p.shape for p in checked] != [(length,) for length in shape]:
        shapes = [p.shape for p in checked]
        raise ValueError(
            f"potentials must be two vectors of lengths {shape[0]} and {shape[1]}; "
            f"got shapes {shapes}"
        )
    if not all(np.all(np.isfinite(p)) for p in checked):
        raise ValueError("potentials hold NaN or infinite values; leave them out to start afresh")
    return checked
