"""Factorisations of symmetric matrices."""

from typing import Protocol

from scipy import sparse
from scipy.linalg import lu_factor, lu_solve
from scipy.sparse.linalg import splu

from dssc._typing import Array

# Share of nonzeros from which a matrix is factorised as an array. A sparse factorisation would
# fill up, entry by entry.
DENSE_SHARE = 0.03


class Factor(Protocol):
    """A factorised matrix."""

    def solve(self, rhs: Array) -> Array:
        """Return the solution of the system with a right-hand side."""


class DenseFactor:
    """The factorisation of an array; implements `Factor`."""

    def __init__(self, matrix: Array):
        self._factor = lu_factor(matrix, overwrite_a=True, check_finite=False)

    def solve(self, rhs: Array) -> Array:
        """Return the solution of the system with a right-hand side."""
        return lu_solve(self._factor, rhs, check_finite=False)


def symmetric_factor(matrix: sparse.csr_array | sparse.csc_array) -> Factor:
    """Return the factorisation of a sparse symmetric matrix that needs no pivoting."""
    if matrix.nnz > DENSE_SHARE * matrix.shape[0] * matrix.shape[1]:
        return DenseFactor(matrix.toarray(order="F"))
    return splu(
        matrix.tocsc(),
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
