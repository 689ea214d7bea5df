"""Loops over the rows of a sparse matrix, seen as a graph."""

import numpy as np

from dssc._typing import Array


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
    """Write some rows of ``scale (A x - shift x) - weight y`` for blocks of vectors x, y."""
    for i in range(first, last):
        at = slice(indptr[i], indptr[i + 1])
        out[i] = scale * (data[at] @ x[indices[at]] - shift * x[i]) - weight * y[i]


def breadth_first_order(indptr: Array, indices: Array, seen: Array, order: Array) -> None:
    """Write the vertices of a symmetric graph so that neighbours are close to each other."""
    found: list[int] = []
    for root in range(len(order)):
        queue = [] if seen[root] else [root]
        seen[root] = True
        while queue:
            found.append(queue.pop(0))
            neighbors = indices[indptr[found[-1]] : indptr[found[-1] + 1]]
            new = neighbors[~seen[neighbors]]
            seen[new] = True
            queue.extend(new.tolist())
    order[:] = np.array(found)
