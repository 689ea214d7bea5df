"""The default solver of the joint model: Newton on what is nonzero now, with column generation."""

import time

import numpy as np
from scipy import sparse

from dssc.joint import interior_point
from dssc.joint.interior_point import TransportSolution
from dssc.joint.model import JointModel, blocks, entries, largest
from dssc.joint.outcome import finish
from dssc.joint.result import JointResult
from dssc.joint.rows import Entries, rows_of

FIRST_NEIGHBORS = 8  # entries of A each row and each column starts with
ADDED = 8  # most entries a row gains in the first round, twice as many in every later one
SHARE = 1e-2  # of the tolerance: what the interior-point method may leave
STALLED_ROUNDS = 8
VISIBLE = 1e-7  # entries of A below this are the interior-point method's zeros


def solve(
    model: JointModel, *, tol: float, max_iter: int, start: JointResult | None = None
) -> JointResult:
    r"""Minimise the joint model to a relative duality gap of `tol`.

    Three facts carry it. Where it is known which coefficients are nonzero and of which sign, C is
    linear in A and can be eliminated: each row of A is left with a quadratic of its own
    (:mod:`dssc.joint.rows`). Few entries of A are positive, so a small pattern will do, solved by
    an interior-point method (:mod:`dssc.joint.interior_point`). And its potentials tell which
    entries were missing: those that violate ``a_i + b_j <= eta2 (eta3 - |G_ij|)``, the constraint
    of the dual. So every round

    1. reads signs and sets of nonzero coefficients off ``G = (X - C X) X'``, and adds the entries
       of A that violate the dual constraints most;
    2. solves the restricted problem for A and the potentials, and recovers C;
    3. bounds the optimum from both sides (:class:`dssc.joint.model.JointModel`).

    With ``eta3 = 0`` all coefficients are nonzero and a round is plain column generation;
    otherwise it is a semismooth Newton step as well. The `plan` is the projection of the last W.

    Parameters
    ----------
    model : JointModel
        The problem.
    tol : float
        Largest relative duality gap.
    max_iter : int
        Most rounds; a handful is usual.
    start : JointResult or None
        Another solver's result, to do better than. Its C gives the first signs and sets, its A a
        part of the pattern.
    """
    clock = time.perf_counter()
    search = _Search(model, start)
    history, seconds = [search.value], [time.perf_counter() - clock]
    n_iter = stalled = 0
    best_gap = np.inf
    while n_iter < max_iter and stalled < STALLED_ROUNDS:
        n_iter += 1
        search.round(tol)
        history.append(search.value)
        seconds.append(time.perf_counter() - clock)
        stalled = 0 if search.gap < best_gap else stalled + 1
        best_gap = min(best_gap, search.gap)
        if search.gap <= tol:
            break
        search.grow(ADDED * 2 ** (n_iter - 1))
    search.release()
    return finish(
        model,
        search.C,
        search.A,
        search.projection_potentials(),
        search.dual,
        tol=tol,
        n_iter=n_iter,
        records=(history, seconds),
        steps="rounds",
    )


class _Search:
    """The pattern, the current point, and the best bounds found."""

    def __init__(self, model: JointModel, start: JointResult | None = None):
        self.model = model
        self.rows = rows_of(model)
        C = self.rows.start() if start is None else start.representation
        R = model.residual(C)
        self.G = R @ model.X.T
        # The start with its projection is A-DSSC, or nearly: a first point to do better than.
        plan = model.project(np.abs(C)).plan if start is None else start.plan
        self.C, self.A = C, sparse.csr_array(plan)
        self.value = model.upper_bound(C, self.A, R)
        self.keys = largest(self.G, FIRST_NEIGHBORS)
        self.mass: np.ndarray = np.zeros(len(self.keys))
        if start is not None:
            i, j, a = entries(self.A)
            held = i.astype(np.int64) * model.n + j
            self.keys = np.union1d(self.keys, held)
            self.mass = np.zeros(len(self.keys))
            self.mass[np.searchsorted(self.keys, held)] = a
        self.solution: TransportSolution | None = None
        self.entries: Entries | None = None
        self.dual, self.gap = -np.inf, np.inf

    def round(self, tol):
        """Solve the restricted problem, and bound the optimum from its solution."""
        m = self.model
        entries = self._entries()
        start = self._carry_over(entries)
        quadratics = self.rows.quadratics(entries, self.G)
        solution = interior_point.solve(quadratics, start, SHARE * tol)
        C = self.rows.express(entries, solution.z)
        A = entries.matrix(np.where(solution.z > VISIBLE, solution.z, 0.0))
        A.eliminate_zeros()
        R = m.residual(C)
        value = m.upper_bound(C, A, R)
        if value <= self.value:
            self.value, self.C, self.A = value, C, A
        np.dot(R, m.X.T, out=self.G)
        dual, (_, a, b) = m.lower_bound(m.products(R), (solution.a, solution.b), self.G)
        if dual >= self.dual:
            self.dual, self.best = dual, (a, b)
        self.gap = (self.value - self.dual) / max(1.0, abs(self.dual))
        self.entries, self.solution = entries, solution
        pair = np.searchsorted(self.keys, entries.rows * m.n + entries.columns)
        self.mass = np.bincount(pair, solution.z, len(self.keys)).astype(np.float64)

    def _entries(self) -> Entries:
        """Give every pair of the pattern its sign, and those in the dead zone both."""
        m = self.model
        i, j = np.divmod(self.keys, m.n)
        g = self.G[i, j].astype(np.float64)
        nonzero = (i != j) & (np.abs(g) > m.eta3 - m.eta1 * m.eta2 * self.mass)
        if m.eta3 == 0.0:
            nonzero = i != j
        signs = np.where(nonzero, np.where(g >= 0.0, 1.0, -1.0), 0.0)
        both = nonzero & (m.target(self.mass) > 0.0)
        keys = np.concatenate([self.keys, self.keys[both]])
        signs = np.concatenate([signs, -signs[both]])
        second = np.arange(len(keys)) >= len(self.keys)
        order = np.lexsort((second, keys))
        i, j = np.divmod(keys[order], m.n)
        indptr = np.searchsorted(i, np.arange(m.n + 1))
        return Entries(indptr, j, signs[order], second[order])

    def _carry_over(self, entries):
        """Return the last solution in terms of new entries."""
        if self.solution is None or self.entries is None:
            return None
        n = self.model.n
        new, old = (3 * (e.rows * n + e.columns) + e.signs for e in (entries, self.entries))
        order = np.argsort(old)
        at = order[np.minimum(np.searchsorted(old, new, sorter=order), len(old) - 1)]
        known = old[at] == new
        last = self.solution
        z, reduced = (np.where(known, x[at], 0.0) for x in (last.z, last.reduced))
        return TransportSolution(z, reduced, last.a, last.b, 0)

    def grow(self, count):
        """Add up to `count` entries a row that violate the dual constraints, the worst first."""
        m = self.model
        assert self.solution is not None  # a round comes first
        a, b = self.solution.a, self.solution.b
        count = min(count, m.n - 1)
        found = [self.keys]
        for rows in blocks(m.n):
            p = a[rows, None] + b
            excess = m.eta2 * (np.abs(self.G[rows]) - m.eta3) + p
            np.maximum(excess, p, out=excess)  # p > 0 pays by itself, without a coefficient
            at = np.arange(rows.start, rows.stop)
            excess[at - rows.start, at] = -np.inf
            worst = np.argpartition(-excess, count - 1, axis=1)[:, :count]
            i, k = np.nonzero(np.take_along_axis(excess, worst, axis=1) > 0.0)
            found.append((i + rows.start) * m.n + worst[i, k])
        keys = np.unique(np.concatenate(found))
        mass = np.zeros(len(keys))
        mass[np.searchsorted(keys, self.keys)] = self.mass
        self.keys, self.mass = keys, mass

    def release(self):
        """Let go of what only the rounds need."""
        del self.rows, self.G

    def projection_potentials(self):
        """Return the best potentials in the projection's units and sign."""
        a, b = self.best
        factor = -self.model.eta1 * self.model.eta2
        return a / factor, b / factor
