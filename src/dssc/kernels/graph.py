"""Loops over the rows of a sparse matrix, seen as a graph."""

from dssc._typing import Array
from dssc.kernels.compiling import leaf


@leaf
def chebyshev_step(
    first: int,
    last: int,
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
    """Write some rows of ``scale (A x - shift x) - weight y`` for blocks of vectors x, y.

    A is a CSR matrix. The rows are those from `first` to before `last`.
    """
    n_vectors = x.shape[1]
    scale, weight = data.dtype.type(scale), data.dtype.type(weight)
    own = -scale * data.dtype.type(shift)
    for i in range(first, last):
        for v in range(n_vectors):
            out[i, v] = own * x[i, v] - weight * y[i, v]
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            value = scale * data[e]
            for v in range(n_vectors):
                out[i, v] += value * x[j, v]


@leaf
def breadth_first_order(indptr: Array, indices: Array, seen: Array, order: Array) -> None:
    """Write the vertices of a symmetric graph so that neighbours are close to each other.

    They come component by component, in the order in which a breadth-first search meets them.
    `seen` is false for all of them, and true afterwards.
    """
    n_found = 0
    for root in range(len(order)):
        if seen[root]:
            continue
        seen[root] = True
        order[n_found] = root
        n_done = n_found
        n_found += 1
        while n_done < n_found:
            i = order[n_done]
            n_done += 1
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                if not seen[j]:
                    seen[j] = True
                    order[n_found] = j
                    n_found += 1
