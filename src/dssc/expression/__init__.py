"""X to C: expressing every sample by the others."""

from dssc.expression.factor import LeastSquaresFactor
from dssc.expression.lsr import least_squares_representation

__all__ = ["LeastSquaresFactor", "least_squares_representation"]
