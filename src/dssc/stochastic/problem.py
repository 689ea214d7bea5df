"""A matrix to be projected, for one eta2 after another: the solver behind both front doors."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from dssc._progress import Progress
from dssc._typing import Array, Matrix
from dssc._validation import as_floats, check_finite, check_structure
from dssc.result import ProjectionResult
from dssc.stochastic.certificate import (
    duality_gap,
    entry_weights,
    marginal_error,
    pair_off,
    rounding_gap,
    sum_of_squares,
)
from dssc.stochastic.dense_similarity import DenseSimilarity, is_symmetric
from dssc.stochastic.dual import GraphDual, WeightedGraphDual
from dssc.stochastic.growing_support import solve_with_growing_support
from dssc.stochastic.near_pairs import NearPairs, near_pairs
from dssc.stochastic.newton import DualSolution
from dssc.stochastic.outcome import compact, newton_remedy, status_text, subnormal_remedy
from dssc.stochastic.similarity import (
    NOTHING_MISSING,
    MissingEntries,
    Potentials,
    RestrictedSimilarity,
    Similarity,
    SparseSimilarity,
)
from dssc.stochastic.support import Support

# The smallest eta2 / max|K| that is solved for. Below it float64 cannot distinguish the entries
# of A, which is then the best permutation (or the mean of several) as far as can be seen.
RESOLUTION = 1e-12
# The largest similarity for which sums and squares stay inside the range of float64.
LARGEST_SIMILARITY = 1e300


class ProjectionProblem:
    """A similarity matrix to be projected, perhaps for several eta2: the support is kept.

    Implements :class:`dssc.stochastic.Projectable`. The front doors check their input, this class
    trusts it. Marginals are held in units of the mean row sum, so that tolerances mean the same
    whatever their scale; for a doubly stochastic plan that unit is one.

    Parameters
    ----------
    similarity : Similarity
        The similarities K.
    marginals : tuple of two ndarrays, optional
        Row and column sums of the plan; ones when not given. Equal ones for a symmetric K.
    weights : ndarray of shape (n,), optional
        Positive weights of the points of a square K, with a mean of one, in the place of marginals.
        A point of weight p counts as p copies of it. The entries between all copies of two points
        are equal, and the plan B holds their sums: it minimises

            -<K, B> + eta2/2 sum_ij B_ij^2 / (p_i p_j)   over B >= 0 with the sums p,

        so that ``B_ij = p_i p_j [K_ij - alpha_i - beta_j]_+ / eta2``.
    """

    def __init__(
        self,
        similarity: Similarity,
        marginals: tuple[Array, Array] | None = None,
        weights: Array | None = None,
    ):
        shape = similarity.shape
        if weights is not None:
            marginals = weights, weights
        a, b = marginals or (np.ones(shape[0]), np.ones(shape[1]))
        self.unit = 1.0 if weights is not None else float(a.mean())
        self.marginals = a / self.unit, b / self.unit
        self.weights = weights
        self.similarity = similarity
        self._support: Support | None = None
        self._potentials: Potentials | None = None

    @classmethod
    def of_matrix(
        cls,
        K: Matrix,
        marginals: tuple[Array, Array] | None = None,
        support: sparse.csr_array | None = None,
        weights: Array | None = None,
    ) -> "ProjectionProblem":
        """Return the problem of a matrix as `check_similarity` returns it, perhaps on a pattern."""
        similarity: Similarity
        with_symmetry = marginals is None or np.array_equal(*marginals)
        if sparse.issparse(K):
            symmetric = with_symmetry and K.shape[0] == K.shape[1] and (K != K.T).nnz == 0
            similarity = SparseSimilarity(K, symmetric)
        else:
            similarity = DenseSimilarity(K, with_symmetry and is_symmetric(K))
        if similarity.largest > LARGEST_SIMILARITY:
            raise ValueError(f"max|K| = {similarity.largest:.3g} is too large; rescale K and eta2")
        if support is not None:
            similarity = RestrictedSimilarity(similarity, support)
        return cls(similarity, marginals, weights)

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of K."""
        return self.similarity.shape

    @property
    def largest(self) -> float:
        """A bound on the absolute values of the entries, close to their largest."""
        return self.similarity.largest

    def largest_entries(self, count: int, progress: Progress) -> Array:
        """Return the `count` largest entries of each row, in falling order."""
        return self.similarity.largest_entries(count, progress)

    def solve(
        self,
        eta2: float,
        *,
        tol: float = 1e-8,
        max_iter: int = 1000,
        potentials: Potentials | None = None,
        progress: Progress | None = None,
    ) -> ProjectionResult:
        """Grow the support until the restricted optimum is proved optimal for all of K."""
        K, progress = self.similarity, progress or Progress()
        eta = max(eta2 * self.unit, RESOLUTION * K.largest)
        feasible = pair_off(*self.marginals)[:2]
        potentials = self._potentials if potentials is None else potentials
        start = K.start(eta, feasible, self._support, potentials, progress)
        w = None if start.potentials is None else start.support.join(start.potentials)
        support = _SimilaritySupport(
            K, self.marginals, self.weights, eta, tol, start.support, progress
        )
        proved = solve_with_growing_support(support, eta, w, tol, max_iter)
        n_missing = len(support.missing.rows)
        self._support, self._potentials = support.extended(), support.potentials
        subnormal = subnormal_remedy(eta, tol)
        is_accurate = proved.error <= tol and proved.gap <= tol and not subnormal
        converged = is_accurate and proved.is_proved and eta == eta2 * self.unit
        status = status_text(
            converged,
            proved.error,
            proved.gap,
            tol,
            proved.n_iter,
            "Newton steps",
            subnormal or newton_remedy(proved.n_iter, max_iter),
        )
        return ProjectionResult(
            plan=compact(support.plan * self.unit),
            potentials=support.potentials,
            eta2=eta / self.unit,
            marginal_error=proved.error,
            gap=proved.gap,
            n_iter=proved.n_iter,
            n_evaluations=proved.n_evaluations,
            n_rescanned=start.n_read + support.n_read,
            converged=converged,
            status=status + self._remarks(eta2, eta, tol, n_missing),
        )

    def near_pairs(self, result: ProjectionResult) -> NearPairs:
        """Return the pairs that a projection of a symmetric K connects, or nearly so."""
        return near_pairs(self.similarity, result.potentials[0], result.eta2)

    def _remarks(self, eta2: float, eta: float, tol: float, n_missing: int) -> str:
        """Return what else a reader of the status should know."""
        text = f"; {n_missing} entries outside the support were still positive" * (n_missing > 0)
        floor = np.finfo(float).eps * self.similarity.largest / (eta2 * self.unit)
        if floor > tol / 10:
            text += f"; float64 resolves A only to eps*max|K|/eta2 = {floor:.1e}: raise eta2"
        if eta != eta2 * self.unit:
            text += f"; solved for eta2={eta / self.unit:.3g} instead of {eta2:.3g}"
        return text


@dataclass
class _SimilaritySupport:
    """The support of one solve; implements `GrowingSupport`."""

    similarity: Similarity
    marginals: tuple[Array, Array]
    weights: Array | None
    eta: float
    tol: float
    support: Support
    progress: Progress
    missing: MissingEntries = NOTHING_MISSING
    n_read: int = 0
    potentials: Potentials = field(init=False)
    plan: sparse.csr_array = field(init=False)

    def dual(self) -> GraphDual:
        """Return the dual on the present support."""
        targets = self.support.targets(self.marginals)
        if self.weights is None:
            return GraphDual(self.support.graph, targets)
        # The marginals are the weights, and each copy of a point has a row sum of one.
        return WeightedGraphDual(self.support.graph, np.ones_like(targets), targets)

    def is_missing_any(self, potentials: Array) -> bool:
        """Read what the bounds on omitted entries leave open."""
        self.potentials = self.support.split(potentials)
        self.missing = self.similarity.missing(
            self.support, self.potentials, self.eta, self.progress
        )
        self.n_read += self.missing.n_read
        return len(self.missing.rows) > 0

    def extend(self) -> bool:
        """Take in the missing entries."""
        self.support = self.extended()
        return True

    def extended(self) -> Support:
        """Return the support with the missing entries."""
        rows, columns, values, _ = self.missing
        return self.support.extended(rows, columns, values) if len(rows) else self.support

    def judge(self, solution: DualSolution) -> tuple[float, float]:
        """Return the marginal error and the relative duality gap of a solution; keep its plan."""
        K = self.similarity
        self.plan = A = self.support.plan(solution.slack)
        n_copies = float(A.nnz)
        if self.weights is not None:
            copies = entry_weights(A, self.weights)
            A.data *= copies
            n_copies = float(copies.sum())
        gap = duality_gap(
            A,
            K.at,
            self.potentials,
            self.marginals,
            self.eta,
            self.tol,
            symmetric=K.symmetric,
            weights=self.weights,
        )
        resolution = np.finfo(float).eps * K.largest / self.eta
        gap += rounding_gap(n_copies, sum_of_squares(A, self.weights), resolution)
        return marginal_error(A, self.marginals, self.weights), gap


def check_similarity(K: Any) -> Matrix:
    """Return K as an array of floats, or as a float64 CSR matrix with sorted, unique entries."""
    check_structure("K", K)
    if sparse.issparse(K):
        K = sparse.csr_array(K, dtype=np.float64)
        K.sum_duplicates()  # sorts the rows too
    else:
        K = np.asarray(K)
        K = K if K.dtype == np.float32 else as_floats("K", K)
    if K.ndim != 2 or 0 in K.shape:
        raise ValueError(f"K must be a matrix with rows and columns; its shape is {K.shape}")
    check_finite("K", K)
    return K


def check_potentials(potentials: Any, shape: tuple[int, int]) -> Potentials | None:
    """Return two vectors of potentials that fit a matrix, or None."""
    if potentials is None:
        return None
    checked = tuple(as_floats("potentials", p) for p in potentials)
    shapes = [p.shape for p in checked]
    if shapes != [(length,) for length in shape]:
        raise ValueError(
            f"potentials must be two vectors of lengths {shape[0]} and {shape[1]}; "
            f"got shapes {shapes}"
        )
    if not all(np.all(np.isfinite(p)) for p in checked):
        raise ValueError(
            "potentials hold NaN or infinite values; leave them out to start without them"
        )
    return checked[0], checked[1]
