"""Graphs for tests."""

from scipy import sparse


def block_diagonal(blocks, format="csr"):
    """Return a sparse array with these blocks; SciPy makes a matrix of dense ones, for now."""
    return sparse.block_diag([sparse.coo_array(block) for block in blocks], format=format)
