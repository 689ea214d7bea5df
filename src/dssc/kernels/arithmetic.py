"""Arithmetic on vectors, for use inside other kernels."""

from dssc._typing import Array
from dssc.kernels.compiling import reduction


@reduction
def dot(x: Array, y: Array) -> float:
    """Return the inner product of two vectors."""
    total = 0.0
    for i in range(len(x)):
        total += x[i] * y[i]
    return total
