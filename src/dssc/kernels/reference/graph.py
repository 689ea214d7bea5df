"""Products of a sparse matrix with a vector or with a block of vectors."""

import numpy as np

from dssc._typing import Array
from dssc.kernels.reference.csr import entry_rows


def chebyshev_step(
    indptr: Array,
    indices: Array,
    data: Array,
    x: Array,
    y: Array,
    scale: float,
    shift: float,
    weight: float,
    out: Array,
) -> None:
    """Write ``scale (A x - shift x) - weight y`` for a CSR matrix A and blocks of vectors x, y."""
    for i in range(len(x)):
        at = slice(indptr[i], indptr[i + 1])
        out[i] = scale * (data[at] @ x[indices[at]] - shift * x[i]) - weight * y[i]


def sparse_product(indptr: Array, indices: Array, data: Array, x: Array, out: Array) -> None:
    """Write ``A x`` for a CSR matrix A and one vector x."""
    out[:] = np.bincount(entry_rows(indptr), data * x[indices], minlength=len(out))
