"""Products of a sparse matrix with a block of vectors."""

from numba import prange

from dssc._typing import Array
from dssc.kernels.compiling import parallel_in_proportion


@parallel_in_proportion
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
    n_vectors = x.shape[1]
    scale, weight = data.dtype.type(scale), data.dtype.type(weight)
    own = -scale * data.dtype.type(shift)
    for i in prange(len(x)):
        for v in range(n_vectors):
            out[i, v] = own * x[i, v] - weight * y[i, v]
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            value = scale * data[e]
            for v in range(n_vectors):
                out[i, v] += value * x[j, v]
