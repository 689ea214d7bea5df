r"""The proximal step of the joint model's coupling, once C is eliminated: a transport problem.

The coupling of C is ``g(C)``, the least ``eta1 / 2 |W - eta2 A|^2 + eta3 sum W`` over ``W >= |C|``
and doubly stochastic A. Its proximal step minimises ``rho / 2 |C - V|^2 + g(C)``. For given A every
entry of C and W is known, and what is left of an entry is a function of A with the slope

    h'(A) = min( eta1 eta2^2 A ,  kappa eta2^2 A + eta2 eta3 - eta2 kappa (|V| + eta3 / eta1) ,
                 eta2 eta3 ) ,        kappa = rho eta1 / (rho + eta1) :

there C is zero, or between, or in the dead zone. On the diagonal it is the first. A doubly
stochastic A with potentials a and b has ``h'(A_ij) = a_i + b_j`` where it is positive. The dead
zone leaves A undetermined, so where it is met a little of ``|A - last A|^2`` is added, which
vanishes at the fixed point; so is it where a small eta2 makes A jump with every change of V, and
Newton's steps lose their way. Then A is the positive part of the largest of three straight lines in
``a_i + b_j``, and its sums are right where a concave function of (a, b) is largest: semismooth
Newton steps find it.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from dssc.joint.model import JointModel
from dssc.kernels._numba import transport as kernels

CG_STEPS = 60
CLINGING = 0.1  # weight of |A - last A|^2 beside A's own curvature, where the dead zone is met
SHORTEST = 1e-3  # step of a line search


class Candidates(NamedTuple):
    """Entries that A may use: keys ``i n + j`` in rising order, |V| there, and the last A.

    Arrays, or tensors on a device.
    """

    keys: Any
    sizes: Any
    last: Any


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

    @property
    def damping(self):
        """Weight of ``1/2 |A - last A|^2``."""
        return self.clinging * self.kappa * self.model.eta2**2

    def lines(self):
        """Return slope, factor of |V| and constant of the lines whose largest value is A.

        They are those between, without coefficient, and in the dead zone.
        """
        m = self.model
        between = self.kappa * m.eta2**2 + self.damping
        without = m.eta1 * m.eta2**2 + self.damping
        free = m.eta2 * m.eta3
        return np.array(
            [
                [1.0, self.unit, self.unit * m.eta3 / m.eta1 - free],
                [1.0, 0.0, 0.0],
                [1.0, 0.0, -free] if self.damping > 0.0 else [0.0, 0.0, 0.0],
            ]
        ) / np.array([[between], [without], [self.damping or 1.0]])

    def coefficients(self, sizes, A):
        """Return |C| for given |V| and A."""
        m = self.model
        target = m.target(A)
        free = sizes <= target
        moved = (self.rho * sizes + m.eta1 * target) / (self.rho + m.eta1)
        return sizes * free + moved.clip(0.0) * ~free


def solve(newton, potentials, tol: float, max_steps: int):
    """Return A on the candidates, its potentials, and the error of its sums: `tol` at best.

    `newton` is a :class:`Newton`, or one that works on a device.
    """
    w = newton.join(potentials)
    A, missing = newton.evaluate(w)
    for _ in range(max_steps):
        if float(abs(missing).max()) <= tol:
            break
        direction = newton.direction(missing)
        slope = float(direction @ missing)
        step = 1.0
        while True:
            trial = w + step * direction
            A, new = newton.evaluate(trial)
            if abs(float(direction @ new)) <= 0.9 * slope or step < SHORTEST:
                break
            step /= 2
        w, missing = trial, new
    n = len(w) // 2
    return A, (w[:n], w[n:]), float(abs(missing).max())


class Newton:
    """A and its sums for given potentials, and Newton's direction there."""

    def __init__(self, cost: Cost, candidates: Candidates):
        self.cost, self.candidates = cost, candidates
        self.n = n = cost.model.n
        self.indptr = np.searchsorted(candidates.keys, np.arange(n + 1) * n)
        self.columns = candidates.keys % n
        self.lines = cost.lines()
        self.slopes = np.empty(len(self.columns))

    def join(self, potentials):
        """Return both potentials as one vector."""
        return np.concatenate(potentials)

    def evaluate(self, w):
        """Return A and what its sums lack; keep its slopes where it is positive, in CSR form."""
        c, n = self.candidates, self.n
        A, row_sums = np.empty(len(self.columns)), np.empty(n)
        potentials = w[:n], w[n:]
        kernels.entry_values(
            self.indptr,
            self.columns,
            c.sizes,
            c.last,
            *potentials,
            self.lines,
            self.cost.damping,
            A,
            self.slopes,
            row_sums,
        )
        on = np.flatnonzero(A)
        self.S = sparse.csr_array(
            (self.slopes[on], self.columns[on], np.searchsorted(on, self.indptr)), shape=(n, n)
        )
        column_sums = np.bincount(self.S.indices, A[on], n)
        return A, 1.0 - np.concatenate([row_sums, column_sums])

    def direction(self, missing):
        """Solve the Newton system, regularised in proportion to what is missing.

        Rows are eliminated; conjugate gradients find the columns' part.
        """
        n, S, S_T = self.n, self.S, self.S.T.tocsr()
        least, regular, tol = newton_terms(self.lines, missing)
        by_row, by_column = (np.maximum(M.sum(axis=1), least) * regular for M in (S, S_T))
        rhs = missing[n:] - S_T @ (missing[:n] / by_row)
        b = np.zeros(n)
        parts = (S.indptr, S.indices, S.data, S_T.indptr, S_T.indices, S_T.data, by_row, by_column)
        kernels.solve_columns(*parts, rhs, tol, CG_STEPS, b)
        return np.concatenate([(missing[:n] - S @ b) / by_row, b])


def newton_terms(lines, missing):
    """Return the least diagonal of the Newton system, what it is multiplied by, and a tolerance."""
    size = min(1.0, float((missing**2).mean()) ** 0.5)
    return 0.5 * float(lines[0, 0]), 1.0 + max(1e-3 * size, 1e-9), max(1e-8, 0.1 * size)
