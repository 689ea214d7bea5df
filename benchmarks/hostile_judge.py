"""A judge of plans and potentials in extended precision that shares no code with the solvers.

With slacks ``z = (K - alpha 1' - 1 beta') / eta2`` and a feasible B, primal objective less dual
value is ``eta2 * sum( (B - [z]_+)^2 / 2 + B [-z]_+ )``. The judge looks for a feasible B near the
plan, computes that sum from K, potentials and B alone, and divides it by ``eta2 |B|^2``. Neither
the scale of K nor anything added to its rows and columns changes the ratio.

B is feasible for marginals that differ from those given by at most `RESIDUAL` mean row sums, about
as much as rounding the marginals themselves to float64 does. Extended precision has 64 bits and
exponents to 4932: slacks up to 1e12 units of eta2 are known to 1e-7, and enter squared.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

LONG = np.longdouble
# Largest error of a sum of B, in mean row sums.
RESIDUAL = 1e-15
# Most rounds of moving the plan to feasibility.
ROUNDS = 60
# Keeps the normal equations definite: they are singular on every piece of the pattern.
RIDGE = 1e-9


@dataclass(frozen=True)
class Verdict:
    """What is true of a plan and its potentials.

    Attributes
    ----------
    marginal_error : float
        Largest error of a row or column sum, in mean row sums.
    gap : float
        Relative duality gap; infinite if no feasible matrix was found near the plan.
    fault : str
        What disqualifies the plan whatever its sums, or "".
    """

    marginal_error: float
    gap: float
    fault: str = ""

    def is_within(self, tol):
        """Whether the plan is feasible and optimal to a tolerance."""
        return not self.fault and self.marginal_error <= tol and self.gap <= tol


def judge(K, eta2, a, b, plan, potentials, support=None):
    """Return the verdict on a plan with marginals (a, b) and its potentials.

    Parameters
    ----------
    K, plan : arrays or sparse matrices of shape (n, m)
        Similarities, and what is proposed as the solution.
    eta2 : float
        Regularisation.
    a, b : arrays of shape (n,) and (m,)
        Marginals.
    potentials : tuple of two arrays
        Dual variables of the rows and columns.
    support : sparse matrix, optional
        The only entries that a plan may use.
    """
    if np.finfo(LONG).nmant < 63:
        raise RuntimeError("the judge needs the 80-bit numbers of x86, or better ones")
    K, A = _long(K), _long(plan)
    alpha, beta = (np.asarray(p).astype(LONG) for p in potentials)
    allowed = np.ones(K.shape, bool) if support is None else _long(support) != 0
    mean = LONG(np.mean(np.asarray(a, dtype=LONG)))
    a, b = (np.asarray(v).astype(LONG) / mean for v in (a, b))
    b = b * (a.sum() / b.sum())
    fault = _fault(A, (alpha, beta), allowed)
    if fault:
        return Verdict(np.inf, np.inf, fault)
    A = A / mean
    slack = (K - alpha[:, None] - beta) / (LONG(eta2) * mean)
    error = max(np.abs(A.sum(axis=1) - a).max(), np.abs(A.sum(axis=0) - b).max())
    if error > 0.5:
        return Verdict(float(error), np.inf)
    return Verdict(float(error), _relative_gap(A, slack, allowed, (a, b)))


def _long(M):
    return (M.toarray() if sparse.issparse(M) else np.asarray(M)).astype(LONG)


def _fault(A, potentials, allowed):
    if A.shape != allowed.shape:
        return f"the plan has shape {A.shape}"
    if not np.all(np.isfinite(A)) or not all(np.all(np.isfinite(p)) for p in potentials):
        return "the plan or the potentials are not finite"
    if np.any(A < 0):
        return "the plan has negative entries"
    if np.any(A[~allowed] > 0):
        return "the plan leaves the support"
    return ""


def _relative_gap(A, slack, allowed, marginals):
    positive = np.where(allowed, np.maximum(slack, 0), 0)
    negative = np.where(allowed, np.maximum(-slack, 0), 0)
    # Entries at which mass costs little are a second pattern, for plans whose own is too narrow.
    for pattern in (A > 0, allowed & ((A > 0) | (slack > -1e-3)), allowed):
        B = _feasible(A, pattern, marginals)
        if B is not None:
            gap = np.sum((B - positive) ** 2 / 2 + B * negative) / np.sum(B**2)
            return float(gap)
    return np.inf


def _feasible(A, pattern, marginals):
    """Return a nonnegative matrix on a pattern with the marginals, near A, or None.

    Newton's method for the projection of A onto these matrices, from zero potentials: solve for
    the sums on the entries that are positive now, take the positive part, and repeat.
    """
    a, b = marginals
    n = len(a)
    x, y = np.zeros(n, LONG), np.zeros(len(b), LONG)
    best, n_vain = np.inf, 0
    for _ in range(ROUNDS):
        shifted = np.where(pattern, A + x[:, None] + y, 0)
        B = np.maximum(shifted, 0)
        missing = np.concatenate([a - B.sum(axis=1), b - B.sum(axis=0)])
        residual = np.abs(missing).max()
        if residual <= RESIDUAL:
            return B
        n_vain = 0 if residual < best / 2 else n_vain + 1
        best = min(best, residual)
        if n_vain > 8:
            return None
        step = _normal_step((shifted > 0).astype(np.float64), missing)
        x, y = x + step[:n], y + step[n:]
    return None


def _normal_step(S, missing):
    """Solve the normal equations of the sums over a pattern, in mixed precision."""
    counts = np.concatenate([S.sum(axis=1), S.sum(axis=0)])
    n = len(S)
    matrix = sparse.block_array([[None, S], [S.T, None]], format="csc")
    matrix = matrix + sparse.diags_array(np.maximum(counts, 1) * (1 + RIDGE))
    scale = float(np.abs(missing).max())
    step = splu(sparse.csc_array(matrix)).solve((missing / scale).astype(np.float64))
    assert len(step) == n + S.shape[1]
    return step.astype(LONG) * LONG(scale)
