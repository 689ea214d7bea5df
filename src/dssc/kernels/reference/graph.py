"""Products of a sparse matrix with a block of vectors."""

from dssc._typing import Array


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
