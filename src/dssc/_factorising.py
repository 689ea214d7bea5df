"""Sparse factorisations of symmetric matrices."""

from scipy.sparse.linalg import splu


def symmetric_factor(matrix):
    """Return the factorisation of a sparse symmetric matrix that needs no pivoting."""
    return splu(
        matrix.tocsc(),
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
