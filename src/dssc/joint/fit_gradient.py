"""The gradient of the fit in the paper's linearised ADMM, with the copy ``Z = C X``.

There are two forms. The cheaper one is taken.
"""

from typing import Protocol

from dssc.joint.array_types import ArrayT
from dssc.joint.operations import LinearizedAdmmOperations


class FitGradient(Protocol[ArrayT]):
    """Z and its multiplier ``Lambda_2``, which is ``X - Z`` after the first iteration."""

    def write_direction(self, C_p: ArrayT, C_q: ArrayT, out: ArrayT) -> None:
        """Write ``(Lambda_2 - rho (C X - Z)) X'``, the direction in which C descends."""

    def ascend(self, C: ArrayT) -> None:
        """Minimise over Z and take the ascent step in ``Lambda_2``, for a new C."""

    def Z(self, C: ArrayT) -> ArrayT:
        """Return Z, which belongs to the current C."""


def fit_gradient(
    operations: LinearizedAdmmOperations[ArrayT], X: ArrayT, C: ArrayT, rho: float
) -> FitGradient[ArrayT]:
    """Return the form of the gradient with the cheaper products, for the first C."""
    n, d = X.shape
    if n < 2 * d:
        return GradientByGramMatrix(operations, X, C, rho)
    return GradientByFeatures(operations, X, C, rho)


class GradientByFeatures(FitGradient[ArrayT]):
    """Two products with X per iteration. D holds ``Lambda_2 - rho (C X - Z)``."""

    def __init__(
        self, operations: LinearizedAdmmOperations[ArrayT], X: ArrayT, C: ArrayT, rho: float
    ):
        self.operations, self.X, self.rho = operations, X, rho
        self._Z = X  # as X - Lambda_2, since Lambda_2 starts at zero
        self.D = -rho * (C @ X)

    def write_direction(self, C_p: ArrayT, C_q: ArrayT, out: ArrayT) -> None:
        """Multiply D with ``X'``."""
        self.operations.xp.matmul(self.D, self.X.T, out=out)

    def ascend(self, C: ArrayT) -> None:
        """Update Z and D, with ``Lambda_2 = X - Z``."""
        ops, rho = self.operations, self.rho
        CX = self.D  # D is not needed any more
        ops.xp.matmul(C, self.X, out=CX)
        self._Z = ops.plus_scaled(self._Z, CX, rho)
        self._Z /= 1 + rho
        self.D = ops.plus_scaled(ops.plus_scaled(self.X, self._Z, rho - 1), CX, -rho)

    def Z(self, C: ArrayT) -> ArrayT:
        """Return Z."""
        return self._Z


class GradientByGramMatrix(FitGradient[ArrayT]):
    """One product with ``X X'`` per iteration.

    With ``Z = Y X`` the direction is ``D X X'`` with ``D = I - (1 - rho) Y - rho C``. The update of
    Y becomes ``D <- (D + rho C_old + rho I - 2 rho C) / (1 + rho)``.
    """

    def __init__(
        self, operations: LinearizedAdmmOperations[ArrayT], X: ArrayT, C: ArrayT, rho: float
    ):
        self.operations, self.X, self.rho = operations, X, rho
        self.K = X @ X.T
        self.D = -rho * C
        # Lambda_2 starts at zero and not at X - Z: D lacks this multiple of I in the first update.
        self.first_shift = rho

    def write_direction(self, C_p: ArrayT, C_q: ArrayT, out: ArrayT) -> None:
        """Multiply D with the Gram matrix, and begin the update of D while C is the old one."""
        ops, rho = self.operations, self.rho
        ops.xp.matmul(self.D, self.K, out=out)
        ops.add_scaled(self.D, C_p, rho)
        ops.add_scaled(self.D, C_q, -rho)
        ops.add_to_diagonal(self.D, self.first_shift)
        self.first_shift = 0.0

    def ascend(self, C: ArrayT) -> None:
        """Complete the update of D."""
        self.operations.add_scaled(self.D, C, -2 * self.rho)
        self.operations.add_to_diagonal(self.D, self.rho)
        self.D /= 1 + self.rho

    def Z(self, C: ArrayT) -> ArrayT:
        """Return Z from D and C."""
        coefficients = self.operations.plus_scaled(self.D, C, self.rho)
        coefficients *= -1.0
        self.operations.add_to_diagonal(coefficients, 1.0)
        Z = coefficients @ self.X
        Z /= 1 - self.rho
        return Z
