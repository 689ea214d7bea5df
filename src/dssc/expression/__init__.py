"""X to C: expressing every sample by the others."""

from dssc.expression.lsr import least_squares_representation

__all__ = ["least_squares_representation"]
