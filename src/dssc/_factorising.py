"""Sparse factorisations of symmetric matrices."""

from scipy import sparse
from scipy.sparse.linalg import SuperLU, splu


def symmetric_factor(matrix: sparse.csr_array | sparse.csc_array) -> SuperLU:
    """Return the factorisation of a sparse symmetric matrix that needs no pivoting."""
    return splu(
        matrix.tocsc(),
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
