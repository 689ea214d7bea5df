"""Arithmetic on vectors, for use inside other kernels."""

from dssc.kernels._numba.compiling import reduction


@reduction
def dot(x, y):
    """Return the inner product of two vectors."""
    total = 0.0
    for i in range(len(x)):
        total += x[i] * y[i]
    return total
