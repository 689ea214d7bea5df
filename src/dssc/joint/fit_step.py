"""The proximal step of the fit: ``min 1/2 |X - C X|^2 + rho / 2 |C - W|^2`` over C.

There are two forms. The cheaper one is taken.
"""

from abc import ABC, abstractmethod
from typing import Generic

from dssc.joint.array_types import ArrayT
from dssc.joint.operations import SplittingOperations


class FitStep(ABC, Generic[ArrayT]):
    """The step for one X and one rho."""

    @abstractmethod
    def write(self, z: ArrayT, Y: ArrayT, out: ArrayT) -> None:
        """Write the minimiser C for ``W = 2 Y - z``. Y may change by rounding."""


def fit_step(operations: SplittingOperations[ArrayT], X: ArrayT, rho: float) -> FitStep[ArrayT]:
    """Return the form of the step with the cheaper products."""
    n, d = X.shape
    if n < 2 * d:
        return FitStepByInverse(operations, X, rho)
    return FitStepByFeatures(operations, X, rho)


class FitStepByFeatures(FitStep[ArrayT]):
    """``C = W + (X - W X) (X'X + rho I)^-1 X'``: two products with n x d matrices."""

    def __init__(self, operations: SplittingOperations[ArrayT], X: ArrayT, rho: float):
        self.operations, self.X = operations, X
        self.coefficients = operations.ridge_coefficients(X, rho)

    def write(self, z: ArrayT, Y: ArrayT, out: ArrayT) -> None:
        """Make W in the place of the result."""
        self.operations.xp.multiply(Y, 2.0, out=out)
        out -= z
        self.operations.add_product(self.operations.residual(self.X, out), self.coefficients, out)


class FitStepByInverse(FitStep[ArrayT]):
    """``C = I + (W - I) Q`` with ``Q = rho (X X' + rho I)^-1``: one product of n x n matrices."""

    def __init__(self, operations: SplittingOperations[ArrayT], X: ArrayT, rho: float):
        self.operations = operations
        self.Q = operations.ridge_inverse(X, rho)

    def write(self, z: ArrayT, Y: ArrayT, out: ArrayT) -> None:
        """Make W in the place of Y, and restore Y."""
        Y *= 2.0
        Y -= z
        self.operations.xp.matmul(Y, self.Q, out=out)
        out -= self.Q
        self.operations.add_to_diagonal(out, 1.0)
        Y += z
        Y *= 0.5
