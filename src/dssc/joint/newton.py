"""Newton's method for the joint model on its nonzero entries, with column generation.

It is the most accurate solver. The solver "auto" uses it for few points in few dimensions, and to
finish where the splitting (:mod:`dssc.joint.splitting`) does not converge.
"""

import numpy as np
from scipy import sparse

from dssc._typing import Array
from dssc.joint import interior_point
from dssc.joint.blocks import row_blocks
from dssc.joint.entries import stored_entries
from dssc.joint.interior_point import TransportSolution
from dssc.joint.model import JointModel
from dssc.joint.outcome import Bounds, History, certified_result
from dssc.joint.result import JointResult
from dssc.joint.row_quadratics import SignedEntries, elimination_of

# Entries of A with which each row and each column starts.
FIRST_NEIGHBORS = 8
# Most entries that a row gains in the first round. The number doubles in every later one.
FIRST_ADDED = 8
# Tolerance of the interior-point method, as a share of the solver's tolerance.
INNER_SHARE = 1e-2
# The solver stops after this many rounds without a better gap.
STALLED_ROUNDS = 8
# Entries of A below this are zeros of the interior-point method.
SMALLEST_ENTRY = 1e-7


def solve(
    model: JointModel[Array], *, tol: float, max_iter: int, start: JointResult | None = None
) -> JointResult:
    r"""Minimise the joint model to a relative duality gap of `tol`.

    The method rests on three facts. If the nonzero coefficients and their signs are known, C is
    linear in A and can be eliminated: each row of A then has a quadratic of its own
    (:mod:`dssc.joint.row_quadratics`). Few entries of A are positive, so a small pattern is enough,
    and an interior-point method solves the problem on it (:mod:`dssc.joint.interior_point`). The
    potentials of this solution show which entries are missing: those that violate
    ``a_i + b_j <= eta2 (eta3 - |G_ij|)``, the constraint of the dual. So every round

    1. reads the signs and the sets of nonzero coefficients from ``G = (X - C X) X'``, and adds the
       entries of A that violate the dual constraints most;
    2. solves the restricted problem for A and the potentials, and recovers C;
    3. bounds the optimum from both sides (:class:`dssc.joint.model.JointModel`).

    With ``eta3 = 0`` all coefficients are nonzero and a round is plain column generation; otherwise
    it is a semismooth Newton step as well. The `plan` is the projection of the last W.

    Parameters
    ----------
    model : JointModel
        The problem, with X in main memory.
    tol : float
        Largest relative duality gap.
    max_iter : int
        Most rounds; a handful is usual.
    start : JointResult or None
        The result of another solver, to improve. Its C gives the first signs and sets, its A a part
        of the pattern.
    """
    history = History()
    rounds = _Rounds(model, start)
    bounds = rounds.bounds
    history.record(bounds.value)
    n_iter = stalled = 0
    best_gap = np.inf
    while n_iter < max_iter and stalled < STALLED_ROUNDS:
        n_iter += 1
        rounds.solve_restricted(tol)
        history.record(bounds.value)
        stalled = 0 if bounds.gap < best_gap else stalled + 1
        best_gap = min(best_gap, bounds.gap)
        if bounds.gap <= tol:
            break
        rounds.add_violating_entries(FIRST_ADDED * 2 ** (n_iter - 1))
    C, A = rounds.release()
    return certified_result(
        model,
        C,
        A,
        bounds.projection_potentials(model),
        bounds.dual,
        history=history,
        tol=tol,
        n_iter=n_iter,
        steps="rounds",
    )


class _Rounds:
    """The pattern of A, the current point, and the best bounds.

    The pattern is a vector of keys ``i n + j`` in rising order; `mass` holds A there.
    """

    def __init__(self, model: JointModel[Array], start: JointResult | None):
        self.model = model
        self.elimination = elimination_of(model)
        C = self.elimination.start() if start is None else start.representation
        R = model.residual(C)
        self.G = R @ model.X.T
        # Without a start, C with the projection of |C| is A-DSSC, or nearly: a first upper bound.
        plan = model.project(np.abs(C)).plan if start is None else start.plan
        self.C, self.A = C, sparse.csr_array(plan)
        self.bounds = Bounds(model.upper_bound(C, self.A, R))
        self.keys = model.operations.largest_keys(self.G, FIRST_NEIGHBORS)
        self.mass: Array = np.zeros(len(self.keys))
        if start is not None:
            i, j, a = stored_entries(self.A)
            held = i.astype(np.int64) * model.n + j
            self.keys = np.union1d(self.keys, held)
            self.mass = np.zeros(len(self.keys))
            self.mass[np.searchsorted(self.keys, held)] = a
        self.last: tuple[SignedEntries, TransportSolution] | None = None

    def solve_restricted(self, tol: float) -> None:
        """Solve the problem on the pattern, and bound the optimum from its solution."""
        m = self.model
        entries = self._signed_entries()
        start = self._start_for(entries)
        quadratics = self.elimination.quadratics(entries, self.G)
        solution = interior_point.solve(quadratics, start, INNER_SHARE * tol)
        C = self.elimination.representation(entries, solution.z)
        A = entries.matrix(np.where(solution.z > SMALLEST_ENTRY, solution.z, 0.0))
        A.eliminate_zeros()
        R = m.residual(C)
        value = m.upper_bound(C, A, R)
        if value <= self.bounds.value:
            self.bounds.value, self.C, self.A = value, C, A
        np.dot(R, m.X.T, out=self.G)
        self.bounds.raise_dual(m.lower_bound(m.products(R), (solution.a, solution.b), self.G))
        self.last = entries, solution
        at = np.searchsorted(self.keys, entries.rows * m.n + entries.columns)
        self.mass = np.bincount(at, solution.z, len(self.keys)).astype(np.float64)

    def _signed_entries(self) -> SignedEntries:
        """Give every entry of the pattern its sign, and those in the dead zone both signs."""
        m = self.model
        i, j = np.divmod(self.keys, m.n)
        g = self.G[i, j].astype(np.float64)
        nonzero = (i != j) & (np.abs(g) > m.eta3 - m.eta1 * m.eta2 * self.mass)
        if m.eta3 == 0.0:
            nonzero = i != j
        signs = np.where(nonzero, np.where(g >= 0.0, 1.0, -1.0), 0.0)
        both = nonzero & (m.penalty.target(self.mass) > 0.0)
        keys = np.concatenate([self.keys, self.keys[both]])
        signs = np.concatenate([signs, -signs[both]])
        second = np.arange(len(keys)) >= len(self.keys)
        order = np.lexsort((second, keys))
        i, j = np.divmod(keys[order], m.n)
        indptr = np.searchsorted(i, np.arange(m.n + 1))
        return SignedEntries(indptr, j, signs[order], second[order])

    def _start_for(self, entries: SignedEntries) -> TransportSolution | None:
        """Return the last solution at new entries, zero where an entry was not in the pattern."""
        if self.last is None:
            return None
        last_entries, last = self.last
        n = self.model.n
        new, old = (3 * (e.rows * n + e.columns) + e.signs for e in (entries, last_entries))
        order = np.argsort(old)
        at = order[np.minimum(np.searchsorted(old, new, sorter=order), len(old) - 1)]
        known = old[at] == new
        z, reduced = (np.where(known, x[at], 0.0) for x in (last.z, last.reduced))
        return TransportSolution(z, reduced, last.a, last.b, 0)

    def add_violating_entries(self, count: int) -> None:
        """Add up to `count` entries per row that violate the dual constraints, the worst first."""
        m = self.model
        assert self.last is not None  # a round comes first
        a, b = self.last[1].a, self.last[1].b
        count = min(count, m.n - 1)
        parts = [self.keys]
        for rows in row_blocks(m.n, m.n):
            p = a[rows, None] + b
            excess = m.eta2 * (np.abs(self.G[rows]) - m.eta3) + p
            # Where p > 0 the entry lowers the value by itself, without a coefficient.
            np.maximum(excess, p, out=excess)
            m.operations.fill_diagonal(excess, -np.inf, rows.start)
            worst = np.argpartition(-excess, count - 1, axis=1)[:, :count]
            i, k = np.nonzero(np.take_along_axis(excess, worst, axis=1) > 0.0)
            parts.append((i + rows.start) * m.n + worst[i, k])
        keys = np.unique(np.concatenate(parts))
        mass = np.zeros(len(keys))
        mass[np.searchsorted(keys, self.keys)] = self.mass
        self.keys, self.mass = keys, mass

    def release(self) -> tuple[Array, sparse.csr_array]:
        """Return the best C and A, and free the other matrices."""
        del self.elimination, self.G
        return self.C, self.A
