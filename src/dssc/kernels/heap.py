"""A heap with its smallest value on top, for use inside other kernels."""

from dssc._typing import Array
from dssc.kernels.compiling import leaf


@leaf
def sift_down(values: Array, indices: Array, node: int, size: int) -> None:
    """Move a value and its index down the heap until no child is smaller."""
    value, index = values[node], indices[node]
    while True:
        child = 2 * node + 1
        if child >= size:
            break
        if child + 1 < size and values[child + 1] < values[child]:
            child += 1
        if values[child] >= value:
            break
        values[node], indices[node] = values[child], indices[child]
        node = child
    values[node], indices[node] = value, index
