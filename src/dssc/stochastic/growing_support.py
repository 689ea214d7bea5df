"""Algorithm 2 of the paper with Newton inside: a support that grows until it is proved to suffice.

The loop is the same on every engine. What differs is how entries outside the support are found:
:class:`GrowingSupport` declares the operations that an engine implements.
"""

from typing import Any, NamedTuple, Protocol

from dssc.stochastic.dual import Dual
from dssc.stochastic.newton import DualSolution, solve_dual

# The tolerance of the dual is tightened down to this share of the one asked for.
TIGHTEST_SHARE = 1e-3


class GrowingSupport(Protocol):
    """A projection restricted to some entries, which can take in more of them."""

    def dual(self) -> Dual:
        """Return the dual on the present support."""

    def is_missing_any(self, potentials: Any) -> bool:
        """Return whether an entry outside the support may be positive at some potentials."""

    def extend(self) -> bool:
        """Take in the entries that the last check missed; return False if that is not possible."""

    def judge(self, solution: DualSolution) -> tuple[float, float]:
        """Return the marginal error and the relative duality gap of a solution."""


class ProvedSolution(NamedTuple):
    """A solution on a support, with its certificate.

    `is_proved` says whether no entry outside the support can be positive, so that the certificate
    holds for the whole problem.
    """

    solution: DualSolution
    error: float
    gap: float
    is_proved: bool
    n_iter: int
    n_evaluations: int


def solve_with_growing_support(
    support: GrowingSupport, eta: float, start: Any, tol: float, max_iter: int
) -> ProvedSolution:
    """Solve on the support and extend it, until the optimum is proved optimal for all entries."""
    w, dual_tol = start, tol / 2
    n_iter = n_evaluations = 0
    while True:
        solution = solve_dual(support.dual(), eta, w, dual_tol, max_iter - n_iter)
        n_iter += solution.n_iter
        n_evaluations += solution.n_evaluations
        w = solution.potentials
        is_proved = not support.is_missing_any(w)
        if not is_proved and n_iter < max_iter and support.extend():
            continue
        error, gap = support.judge(solution)
        is_tight = dual_tol < TIGHTEST_SHARE * tol
        is_at_rounding = solution.error > dual_tol
        if not is_proved or gap <= tol or n_iter >= max_iter or is_tight or is_at_rounding:
            return ProvedSolution(solution, error, gap, is_proved, n_iter, n_evaluations)
        dual_tol /= 10  # far potentials turn a small error of a sum into a large gap
