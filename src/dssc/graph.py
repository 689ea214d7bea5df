"""An affinity as a graph: its connected components, and which entries lie inside clusters."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from dssc._typing import Array, Matrix
from dssc._validation import as_floats, check_finite, check_structure

# Entries below this share of the largest one connect nothing: a projection to the default
# tolerance has errors of this size.
NEGLIGIBLE = 1e-8


def as_matrix(affinity: ArrayLike | Matrix) -> Matrix:
    """Return an affinity of finite numbers as an array, or unchanged if it is sparse."""
    check_structure("affinity", affinity)
    matrix = affinity if sparse.issparse(affinity) else as_floats("affinity", affinity)
    check_finite("affinity", matrix)
    return matrix


def as_graph(affinity: ArrayLike | Matrix) -> sparse.csr_array:
    """Return the symmetric part of an affinity, without entries that are zero up to rounding."""
    A = as_matrix(affinity)
    A = sparse.csr_array((A + A.T) / 2, dtype=np.float64)
    A.data[A.data <= NEGLIGIBLE * (A.data.max() if A.nnz else 0.0)] = 0.0
    A.eliminate_zeros()
    return A


def count_components(affinity: ArrayLike | Matrix) -> int:
    """Return the number of connected components of an affinity."""
    return int(connected_components(as_graph(affinity), directed=False)[0])


def component_sizes(graph: sparse.csr_array) -> Array:
    """Return the numbers of points of the connected components, in falling order."""
    pieces = connected_components(graph, directed=False)[1]
    return np.sort(np.bincount(pieces))[::-1]


def is_inside(graph: sparse.csr_array, labels: Array) -> Array:
    """Return which entries of an affinity lie inside clusters."""
    return np.repeat(labels, np.diff(graph.indptr)) == labels[graph.indices]
