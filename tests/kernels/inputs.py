"""Random input for kernels."""

import numpy as np
from scipy import sparse


def random_graph(rng, n, density=0.3):
    """Return a symmetric matrix in CSR form, with positive entries and diagonal, and potentials."""
    upper = sparse.random_array((n, n), density=density, random_state=rng)
    K = sparse.csr_array(upper + upper.T + sparse.eye_array(n))
    K.sort_indices()
    w = 0.3 * rng.standard_normal(n)
    return (K.indptr.astype(np.int64), K.indices.astype(np.int32), K.data), w


def row_blocks(rng):
    """Return six rows of a sparse matrix, and one positive definite block per row."""
    sizes = np.array([3, 1, 5, 2, 4, 5])
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    columns = np.concatenate([np.sort(rng.choice(6, size, replace=False)) for size in sizes])
    blocks = [(lambda B: B @ B.T)(rng.standard_normal((size, size))) for size in sizes]
    offsets = np.concatenate([[0], np.cumsum(sizes**2)])
    return indptr, columns, offsets, blocks
