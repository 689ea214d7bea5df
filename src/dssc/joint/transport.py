r"""The proximal step of the joint model's coupling, once C is eliminated: a transport problem.

The coupling of C is ``g(C)``, the least ``eta1 / 2 |W - eta2 A|^2 + eta3 sum W`` over ``W >= |C|``
and doubly stochastic A. Its proximal step minimises ``rho / 2 |C - V|^2 + g(C)``. For given A every
entry of C and W is known, and what is left of an entry is a function of A with the slope

    h'(A) = min( eta1 eta2^2 A ,  kappa eta2^2 A + eta2 eta3 - eta2 kappa (|V| + eta3 / eta1) ,
                 eta2 eta3 ) ,        kappa = rho eta1 / (rho + eta1) :

there C is zero, or between, or in the dead zone. On the diagonal it is the first. A doubly
stochastic A with potentials a and b has ``h'(A_ij) = a_i + b_j`` where it is positive. The dead
zone leaves A undetermined, so where it is met a little of ``|A - last A|^2`` is added, which
vanishes at the fixed point. Then A is the positive part of the largest of three straight lines in
``a_i + b_j``, and its sums are right where a concave function of (a, b) is largest: semismooth
Newton steps find it.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse

from dssc.joint.model import JointModel

CG_STEPS = 200
CLINGING = 0.1  # weight of |A - last A|^2 beside A's own curvature, where the dead zone is met
SHORTEST = 1e-3  # step of a line search


class Candidates(NamedTuple):
    """Entries that A may use, by rows: their columns, |V| there, and the last A."""

    indptr: np.ndarray
    columns: np.ndarray
    sizes: np.ndarray
    last: np.ndarray

    @property
    def rows(self):
        """Row of every entry."""
        return np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))


@dataclass(frozen=True)
class Cost:
    """The function of one entry of A, for a model and a rho."""

    model: JointModel
    rho: float
    clinging: float = 0.0

    @property
    def kappa(self):
        """Curvature of the penalty once C has followed."""
        return self.rho * self.model.eta1 / (self.rho + self.model.eta1)

    @property
    def unit(self):
        """What turns a potential of A into one in the units of V."""
        return self.model.eta2 * self.kappa

    def limit(self, margin):
        """Return c: entries with ``|V| + (a + b) / unit <= c`` have A at most ``-margin``."""
        return self.model.eta3 / self.rho - margin * self.model.eta2

    def values(self, p, sizes, last, diagonal):
        """Return A and its slope for sums p of potentials."""
        m = self.model
        damping = self.clinging * self.kappa * m.eta2**2
        p = p + damping * last
        without = m.eta1 * m.eta2**2 + damping
        between = self.kappa * m.eta2**2 + damping
        x = (p - m.eta2 * m.eta3 + self.unit * (sizes + m.eta3 / m.eta1)) / between
        x[diagonal] = -np.inf
        other = p / without
        slopes = np.where(x > other, 1.0 / between, 1.0 / without)
        np.maximum(x, other, out=x)
        if damping > 0.0:
            other = (p - m.eta2 * m.eta3) / damping
            other[diagonal] = -np.inf
            slopes = np.where(other > x, 1.0 / damping, slopes)
            np.maximum(x, other, out=x)
        slopes[x <= 0.0] = 0.0
        return np.maximum(x, 0.0, out=x), slopes

    def coefficients(self, sizes, A):
        """Return |C| for given |V| and A."""
        m = self.model
        target = m.target(A)
        moved = np.maximum((self.rho * sizes + m.eta1 * target) / (self.rho + m.eta1), 0.0)
        return np.where(sizes <= target, sizes, moved)


def solve(cost: Cost, candidates: Candidates, potentials, tol: float, max_steps: int):
    """Return A on the candidates and its potentials, its sums one within `tol` if it gets there."""
    newton = _Newton(cost, candidates)
    w = np.concatenate(potentials)
    A, slopes, missing = newton.evaluate(w)
    for _ in range(max_steps):
        if np.abs(missing).max() <= tol:
            break
        direction = newton.direction(slopes, missing)
        slope = float(direction @ missing)
        step = 1.0
        while True:
            trial = w + step * direction
            A, slopes, new = newton.evaluate(trial)
            if abs(float(direction @ new)) <= 0.9 * slope or step < SHORTEST:
                break
            step /= 2
        w, missing = trial, new
    n = len(w) // 2
    return A, (w[:n], w[n:])


class _Newton:
    def __init__(self, cost, candidates):
        self.cost, self.candidates = cost, candidates
        self.n = len(candidates.indptr) - 1
        self.rows = candidates.rows
        self.diagonal = self.rows == candidates.columns

    def sums_of(self, w):
        return w[: self.n][self.rows] + w[self.n :][self.candidates.columns]

    def totals(self, x):
        c = self.candidates
        by_row, by_column = np.bincount(self.rows, x, self.n), np.bincount(c.columns, x, self.n)
        return np.concatenate([by_row, by_column])

    def evaluate(self, w):
        c = self.candidates
        A, slopes = self.cost.values(self.sums_of(w), c.sizes, c.last, self.diagonal)
        return A, slopes, 1.0 - self.totals(A)

    def direction(self, slopes, missing):
        """Solve the Newton system, regularised in proportion to what is missing.

        Rows are eliminated; conjugate gradients find the columns' part.
        """
        n, c = self.n, self.candidates
        size = min(1.0, float(np.sqrt(np.mean(missing**2))))
        least = 0.5 * float(slopes.max(initial=1.0 / self.cost.unit))
        diagonal = np.maximum(self.totals(slopes), least) * (1.0 + max(1e-3 * size, 1e-9))
        S = sparse.csr_array((slopes, c.columns, c.indptr), shape=(n, n))
        S_T = S.T
        by_row, by_column = diagonal[:n], diagonal[n:]
        rhs = missing[n:] - S_T @ (missing[:n] / by_row)
        b = _conjugate_gradients(
            lambda x: by_column * x - S_T @ ((S @ x) / by_row),
            by_column,
            rhs,
            max(1e-8, 0.01 * size),
        )
        return np.concatenate([(missing[:n] - S @ b) / by_row, b])


def _conjugate_gradients(multiply, diagonal, rhs, tol):
    x = np.zeros_like(rhs)
    residual = rhs.copy()
    z = residual / diagonal
    direction = z.copy()
    rho = float(residual @ z)
    target = tol * tol * rho
    for _ in range(CG_STEPS):
        if not rho > target:
            break
        product = multiply(direction)
        curvature = float(direction @ product)
        if not curvature > 0.0:
            break
        length = rho / curvature
        x += length * direction
        residual -= length * product
        z = residual / diagonal
        last, rho = rho, float(residual @ z)
        direction *= rho / last
        direction += z
    return x
