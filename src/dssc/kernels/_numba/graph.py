"""Products of a sparse matrix with a block of vectors."""

from numba import prange

from dssc.kernels._numba.compiling import parallel, reduction


@parallel
def chebyshev_step(indptr, indices, data, x, y, scale, shift, weight, out):
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


@reduction
def _row_product(indices, data, x):
    total = data.dtype.type(0)
    for e in range(len(data)):
        total += data[e] * x[indices[e]]
    return total


@parallel
def sparse_product(indptr, indices, data, x, out):
    """Write ``A x`` for a CSR matrix A and one vector x."""
    for i in prange(len(out)):
        row = slice(indptr[i], indptr[i + 1])
        out[i] = _row_product(indices[row], data[row], x)
