r"""The penalty that couples C and A in the joint model.

An entry of (model) that is not on the diagonal costs

.. math:: \tfrac{\eta_1}{2} (w - \eta_2 a)^2 + \eta_3 w \quad \text{with } w \ge |c| .

The best w for given c and a is ``max(|c|, T)`` with the target ``T = eta2 a - eta3 / eta1``. While
``|c| < T`` the cost does not depend on c: this is the dead zone.
"""

from typing import NamedTuple

from dssc.joint.array_types import ArrayT


class CouplingPenalty(NamedTuple):
    """The parameters of the penalty, in the order in which the kernels take them."""

    eta1: float
    eta2: float
    eta3: float

    def target(self, A: ArrayT) -> ArrayT:
        """Return ``eta2 A - eta3 / eta1``, the best W where C does not limit it."""
        return self.eta2 * A - self.eta3 / self.eta1

    def cost(self, W: ArrayT, A: ArrayT | float) -> ArrayT:
        """Return the cost of entries."""
        return 0.5 * self.eta1 * (W - self.eta2 * A) ** 2 + self.eta3 * W
