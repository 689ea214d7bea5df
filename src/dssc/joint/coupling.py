r"""The proximal step of the joint model's coupling, with C eliminated.

The coupling of C is ``g(C)``, the least ``eta1 / 2 |W - eta2 A|^2 + eta3 sum W`` over ``W >= |C|``
and doubly stochastic A. Its proximal step minimises ``rho / 2 |C - V|^2 + g(C)``. For given A the
best C and W are known for every entry. What remains is a convex cost of each entry of A, with slope

    h'(A) = min( eta1 eta2^2 A ,  kappa eta2^2 A + eta2 eta3 - eta2 kappa (|V| + eta3 / eta1) ,
                 eta2 eta3 ) ,        kappa = rho eta1 / (rho + eta1) .

In the first case C is zero; in the second it is not; the third is the dead zone. On the diagonal
only the first case occurs. A doubly stochastic A with potentials a and b satisfies
``h'(A_ij) = a_i + b_j`` where it is positive.

**Anchoring.** In the dead zone A is not determined. Once an entry reaches it, we add a small
multiple of ``|A - previous A|^2``, which vanishes at the fixed point. We also add it where a small
eta2 makes A jump with every change of V, so that Newton's method fails.

**The solution.** With this term A is the positive part of the largest of three linear functions of
``a_i + b_j``. Its sums are one where a concave function of (a, b) is largest. Semismooth Newton
steps find that point.
"""

from dataclasses import dataclass
from typing import Generic, NamedTuple, Protocol

import numpy as np

from dssc._typing import Array
from dssc.joint.array_types import ArrayOrTensor, ArrayT
from dssc.joint.penalty import CouplingPenalty

# Most steps of conjugate gradients for one Newton direction.
CG_STEPS = 60
# Weight of |A - previous A|^2, relative to the curvature of A's own cost, in the dead zone.
ANCHORING = 0.1
# The line search stops below this step length.
SHORTEST_STEP = 1e-3


class Candidates(NamedTuple, Generic[ArrayT]):
    """Entries that may be positive in A.

    Attributes
    ----------
    keys : vector
        Keys ``i n + j``, in rising order.
    sizes : vector
        |V| at these entries, zero on the diagonal.
    previous : vector
        A at these entries, from the previous iteration.
    """

    keys: ArrayT
    sizes: ArrayT
    previous: ArrayT


class CouplingSolution(NamedTuple, Generic[ArrayT]):
    """A at the candidates, the potentials of rows and columns, and the largest error of a sum."""

    values: ArrayT
    potentials: tuple[ArrayT, ArrayT]
    error: float


@dataclass(frozen=True)
class CouplingCost:
    """The cost h of one entry of A, for a penalty and a proximal weight rho."""

    penalty: CouplingPenalty
    rho: float
    anchoring: float = 0.0

    @property
    def kappa(self) -> float:
        """Curvature of the penalty with C eliminated."""
        return self.rho * self.penalty.eta1 / (self.rho + self.penalty.eta1)

    @property
    def unit(self) -> float:
        """Potentials of A divided by this are in the units of V."""
        return self.penalty.eta2 * self.kappa

    @property
    def damping(self) -> float:
        """Weight of ``1/2 |A - previous A|^2``."""
        return self.anchoring * self.kappa * self.penalty.eta2**2

    def limit(self, margin: float) -> float:
        """Return c: entries with ``|V| + (a + b) / unit <= c`` have A at most ``-margin``."""
        return self.penalty.eta3 / self.rho - margin * self.penalty.eta2

    def lines(self) -> Array:
        """Return the three linear functions whose largest value is A, one per row.

        Columns are the slope in ``a + b``, the factor of |V| and the constant. Rows are for a
        nonzero C, for C zero, and for the dead zone. The last one is zero without anchoring.
        """
        p = self.penalty
        nonzero = self.kappa * p.eta2**2 + self.damping
        zero = p.eta1 * p.eta2**2 + self.damping
        dead_zone = p.eta2 * p.eta3
        return np.array(
            [
                [1.0, self.unit, self.unit * p.eta3 / p.eta1 - dead_zone],
                [1.0, 0.0, 0.0],
                [1.0, 0.0, -dead_zone] if self.damping > 0.0 else [0.0, 0.0, 0.0],
            ]
        ) / np.array([[nonzero], [zero], [self.damping or 1.0]])

    def coefficients(self, sizes: ArrayT, A: ArrayT) -> ArrayT:
        """Return |C| for given |V| and A."""
        eta1 = self.penalty.eta1
        target = self.penalty.target(A)
        in_dead_zone = sizes <= target
        shrunk = (self.rho * sizes + eta1 * target) / (self.rho + eta1)
        return sizes * in_dead_zone + shrunk.clip(0.0) * ~in_dead_zone


class CouplingNewton(Protocol[ArrayT]):
    """What Newton's method needs of A on one set of candidates.

    Potentials are one vector w: those of the rows, then those of the columns.
    """

    def evaluate(self, w: ArrayT) -> tuple[ArrayT, ArrayT]:
        """Return A at the candidates, and one minus its row and column sums.

        The slopes of A at w are kept for `direction`.
        """

    def direction(self, missing: ArrayT) -> ArrayT:
        """Solve Newton's system at the last w for a right-hand side."""


def solve(
    newton: CouplingNewton[ArrayT], w: ArrayT, tol: float, max_steps: int
) -> CouplingSolution[ArrayT]:
    """Find the potentials for which all sums of A are one within `tol`, starting from w."""
    A, missing = newton.evaluate(w)
    for _ in range(max_steps):
        if float(abs(missing).max()) <= tol:
            break
        direction = newton.direction(missing)
        slope = float(direction @ missing)
        step = 1.0
        while True:
            trial = w + step * direction
            A, trial_missing = newton.evaluate(trial)
            if abs(float(direction @ trial_missing)) <= 0.9 * slope or step < SHORTEST_STEP:
                break
            step /= 2
        w, missing = trial, trial_missing
    n = len(w) // 2
    return CouplingSolution(A, (w[:n], w[n:]), float(abs(missing).max()))


def regularisation(lines: Array, missing: ArrayOrTensor) -> tuple[float, float, float]:
    """Return how to regularise Newton's system, in proportion to the error of the sums.

    These are the smallest diagonal, the factor of the diagonal, and the tolerance of conjugate
    gradients.
    """
    error = min(1.0, float((missing**2).mean()) ** 0.5)
    return 0.5 * float(lines[0, 0]), 1.0 + max(1e-3 * error, 1e-9), max(1e-8, 0.1 * error)
