"""The elastic net: sparse self-expression for SSC, EnSC and (minC) with an l1 penalty."""

from collections.abc import Callable

import numba
import numpy as np
from scipy import sparse

from dssc._sparse import csr_of_parts
from dssc._typing import Array, Matrix
from dssc._validation import check_count, check_positive
from dssc.expression.dictionary import Dictionary
from dssc.kernels.elastic import solve_rows
from dssc.result import RepresentationResult

# Samples that a search returns at first. Doubled while most rows have more violations.
N_CANDIDATES = 64
# Members of a row's active set at first. Doubled for the rows that need more.
FIRST_CAPACITY = 128
# Smallest eta1 in the factorisations, relative to the largest squared norm. It keeps them regular
# for duplicates, and changes the optimality conditions only by its product with a coefficient.
RIDGE = 1e-11


def elastic_net_representation(
    X: Matrix,
    eta1: float,
    eta3: float,
    *,
    tol: float = 1e-8,
    max_iter: int = 100,
    dictionary_of: Callable[[Matrix], Dictionary] = Dictionary,
) -> RepresentationResult:
    r"""Express every row of X by few of the other rows.

    Solves the self-expression of the paper, in row notation

    .. math:: \min_C \; \tfrac12 \|X - C X\|_F^2 + \tfrac{\eta_1}{2} \|C\|_F^2 + \eta_3 \|C\|_1
              \quad \text{subject to } \mathrm{diag}(C) = 0 .

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Samples, of dtype float32 or float64.
    eta1 : float
        Weight of the squared penalty. Zero gives the lasso. If duplicate samples make its solution
        ambiguous, one of (nearly) least norm is returned.
    eta3 : float
        Weight of the l1 penalty, positive.
    tol : float, default=1e-8
        Largest violation of an optimality condition, relative to the largest squared norm.
    max_iter : int, default=100
        Largest number of searches through all samples for one row.
    dictionary_of : callable
        Makes the dictionary of the samples: where they are searched.

    Returns
    -------
    result : dssc.result.RepresentationResult
        C in CSR form and in the dtype of X, with the violations and the relative residual of every
        row. An iteration is a search through all samples.

    Notes
    -----
    With the residual ``r_i = x_i - C_i X`` row i is optimal when ``x_j . r_i`` equals
    ``eta1 C_ij + eta3 sign(C_ij)`` on its support and is at most eta3 in magnitude elsewhere. Each
    row is solved over a set of candidates, at first the samples nearest to it, by an active set
    method with small direct solves. Then its residual is multiplied with all samples in float32:
    those that correlate most become candidates, and the largest correlation left out bounds the
    rest. A row is finished when this bound, together with the change of its residual since, proves
    its conditions. Memory is that of X, of C and of one tile of products.

    SSC and EnSC write the same problem with a weight :math:`\gamma` on the fit. A larger
    :math:`\gamma` means smaller penalties here: :math:`\eta_3 = \lambda / \gamma` and
    :math:`\eta_1 = (1 - \lambda) / \gamma`, with :math:`\lambda = 1` for SSC.
    """
    check_positive("eta3", eta3)
    if eta1 != 0:
        check_positive("eta1", eta1)
    check_positive("tol", tol)
    check_count("max_iter", max_iter)
    dictionary = dictionary_of(X)
    inner = dictionary.inner()
    unit = dictionary.scale**2
    samples = np.arange(len(dictionary))
    blocks = []
    for rows in dictionary.blocks():
        block = _Block(dictionary, inner, samples[rows], eta1 / unit, eta3 / unit, tol)
        block.solve(max_iter)
        blocks.append(block.compact())
    violations = np.concatenate([block.violations for block in blocks])
    n_open = np.count_nonzero(violations > tol * dictionary.largest_norm**2)
    status = f"largest violation {violations.max() * unit:.1e}, tol={tol:.1e}"
    if n_open:
        status = f"{n_open} rows unfinished after max_iter={max_iter} searches: {status}; raise it"
    C = _stack(blocks, dictionary.dtype)
    return RepresentationResult(
        representation=C,
        violations=violations * unit,
        residuals=dictionary.relative_residuals(C),
        n_iter=np.concatenate([block.n_iter for block in blocks]),
        converged=n_open == 0,
        status=status,
    )


class _Block:
    """Rows of the problem: their solutions so far and what is proved about them."""

    def __init__(
        self, dictionary: Dictionary, inner: Array, own: Array, eta1: float, eta3: float, tol: float
    ):
        n = len(own)
        self.dictionary, self.inner = dictionary, inner
        self.own = own
        self.eta1, self.eta3 = float(eta1), float(eta3)
        self.tol = tol * dictionary.largest_norm**2
        self.support = np.zeros((n, FIRST_CAPACITY), dtype=np.int32)
        self.coefficients = np.zeros((n, FIRST_CAPACITY))
        self.sizes = np.zeros(n, dtype=np.int64)
        self.residuals = dictionary.X[own]
        self.violations = np.full(n, np.inf)
        self.n_iter = np.zeros(n, dtype=np.int64)
        self.bounds = np.empty(n)

    def solve(self, max_iter: int) -> None:
        """Solve and search in turn until every row is proved optimal, or `max_iter` is reached."""
        rows = np.arange(len(self.own))
        n_places = N_CANDIDATES
        candidates = self._search(rows, n_places, precise=False)
        while True:
            searched = self.residuals[rows]
            self._solve_candidates(rows, candidates)
            excess = self._excess(rows, searched)
            self.violations[rows] = np.maximum(self.violations[rows], excess)
            is_open = (excess > self.tol) & (self.n_iter[rows] < max_iter)
            # If a row did not change and is not proved optimal, float64 has to decide.
            moved = np.any(self.residuals[rows] != searched, axis=1)[is_open]
            rows = rows[is_open]
            if len(rows) == 0:
                break
            if self.n_iter[rows[0]] > 1 and np.median(self.bounds[rows]) > self.eta3:
                n_places = min(2 * n_places, len(self.dictionary))
            candidates = np.empty((len(rows), n_places), dtype=np.int32)
            for group, precise in ((moved, False), (~moved, True)):
                if group.any():
                    candidates[group] = self._search(rows[group], n_places, precise=precise)

    def compact(self) -> "_Block":
        """Drop the arrays that only the solver needs."""
        kept = np.arange(self.support.shape[1]) < self.sizes[:, None]
        self.support, self.coefficients = self.support[kept], self.coefficients[kept]
        del self.residuals, self.dictionary, self.inner
        return self

    def _search(self, rows: Array, n_places: int, *, precise: bool) -> Array:
        """Return candidates for rows, and keep the bounds on all other samples."""
        sizes = self.sizes[rows]
        kept = np.arange(self.support.shape[1]) < sizes[:, None]
        stored = np.concatenate([[0], np.cumsum(sizes)]), self.support[rows][kept]
        self.n_iter[rows] += 1
        candidates, self.bounds[rows] = self.dictionary.search(
            self.residuals[rows], self.own[rows], n_places, stored=stored, precise=precise
        )
        return candidates

    def _solve_candidates(self, rows: Array, candidates: Array) -> None:
        """Solve rows over their supports and candidates, with more capacity where needed.

        A row that exceeds the capacity starts again. Otherwise samples that left its support on the
        way would be neither members nor candidates.
        """
        capacity = self.support.shape[1]
        while len(rows):
            space = capacity - self.support.shape[1]
            if space:
                self.support = np.pad(self.support, ((0, 0), (0, space)))
                self.coefficients = np.pad(self.coefficients, ((0, 0), (0, space)))
            state: list[Array] = [self.support[rows], self.coefficients[rows], self.sizes[rows]]
            fits = self._run(rows, candidates, state)
            done = rows[fits]
            self.support[done], self.coefficients[done], self.sizes[done] = (
                part[fits] for part in state
            )
            rows, candidates = rows[~fits], candidates[~fits]
            capacity *= 2

    def _run(self, rows: Array, candidates: Array, state: list[Array]) -> Array:
        """Solve rows from a state, which is overwritten; return which fit the capacity."""
        capacity = self.support.shape[1]
        n_threads = numba.get_num_threads()
        square = n_threads, capacity, capacity
        residuals = np.empty((len(rows), self.residuals.shape[1]))
        violations = np.empty(len(rows))
        fits = np.empty(len(rows), dtype=np.bool_)
        solve_rows(
            self.dictionary.X,
            self.inner,
            self.own[rows],
            candidates,
            self.eta1,
            self.eta3,
            RIDGE * self.dictionary.largest_norm**2,
            self.tol / 2,
            np.empty(square),
            np.empty(square),
            np.empty((n_threads, 5, capacity)),
            np.empty((n_threads, 2, capacity), dtype=np.int64),
            np.empty((n_threads, candidates.shape[1])),
            state[0],
            state[1],
            state[2],
            residuals,
            violations,
            fits,
        )
        self.residuals[rows] = residuals
        self.violations[rows] = violations
        return fits

    def _excess(self, rows: Array, searched: Array) -> Array:
        """Bound how far the samples that are not candidates can exceed eta3 now.

        If b bounds ``|x_j . r|`` at the residual r of the search, then ``s b + |x_j| |q - s r|``
        bounds ``|x_j . q|`` at the present residual q, for any s > 0.
        """
        q, b = self.residuals[rows], self.bounds[rows]
        norm = self.dictionary.largest_norm
        length = np.einsum("ij,ij->i", searched, searched)
        overlap = np.einsum("ij,ij->i", q, searched)
        s = np.maximum(overlap / np.where(length > 0, length, 1.0), np.finfo(float).tiny)
        near = b + norm * np.linalg.norm(q - searched, axis=1)
        scaled = s * b + norm * np.linalg.norm(q - s[:, None] * searched, axis=1)
        return np.maximum(np.minimum(near, scaled) - self.eta3, 0.0)


def _stack(blocks: list[_Block], dtype: np.dtype) -> sparse.csr_array:
    """Return C with sorted rows."""
    n = sum(len(block.own) for block in blocks)
    indptr = np.concatenate([[0], np.cumsum(np.concatenate([block.sizes for block in blocks]))])
    indices = np.concatenate([block.support for block in blocks])
    values = np.concatenate([block.coefficients for block in blocks]).astype(dtype)
    C = csr_of_parts(values, indices, indptr, (n, n))
    C.sort_indices()
    return C
