"""Making a plan feasible by small changes of its own positive entries.

Mass on an entry with a negative slack costs that slack, which may be as large as ``max|K| / eta2``.
A change of a positive entry costs only half its square. The positive entries are the edges of a
graph between rows and columns, and a spanning forest of it can carry whatever its pieces miss.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order, connected_components, minimum_spanning_tree

from dssc._typing import Array


class ForestCorrection(NamedTuple):
    """Changes of positive entries of a plan, and what rows and columns still miss after them."""

    change: sparse.csr_array
    missing_rows: Array
    missing_columns: Array


def forest_correction(A: sparse.csr_array, a: Array, b: Array) -> ForestCorrection | None:
    """Return changes along a spanning forest of A's positive entries that give it the sums a and b.

    Only a piece of the pattern whose rows and columns have marginals of different sums still misses
    mass. Returns None if an entry would become negative.
    """
    n, m = A.shape
    order, parents, n_pieces = _walk(A)
    missing = np.concatenate([a - _accurate_sums(A, 1), b - _accurate_sums(A, 0)])
    missing = missing.astype(np.float64).tolist()  # plain numbers, for a plain loop
    flow = np.zeros(n + m)
    for vertex in order[:n_pieces:-1]:  # each one before its parent, without the roots
        flow[vertex] = missing[vertex]
        missing[parents[vertex]] -= missing[vertex]
        missing[vertex] = 0.0
    for vertex in order[n_pieces + 1 :]:  # a root with too much mass takes it from one neighbour
        root = parents[vertex]
        if root < n and missing[root] < 0.0:
            flow[vertex] += missing[root]
            missing[vertex], missing[root] = -missing[root], 0.0
    ends = order[n_pieces + 1 :], parents[order[n_pieces + 1 :]]
    rows, columns = np.minimum(*ends), np.maximum(*ends) - n
    change = sparse.csr_array((flow[ends[0]], (rows, columns)), shape=A.shape)
    if (A + change).data.min(initial=0.0) < 0.0:
        return None
    return ForestCorrection(change, np.array(missing[:n]), np.array(missing[n : n + m]))


def _walk(A: sparse.csr_array) -> tuple[Array, Array, int]:
    """Return the vertices of the heaviest forest from its roots outwards, after an artificial one.

    With them the vertex from which each one is reached, and the number of roots. Rows come before
    columns, and a root is the first vertex of its piece.
    """
    n, m = A.shape
    edges = A.tocoo()
    ends = edges.row, n + edges.col
    graph = sparse.csr_array((-edges.data, ends), shape=(n + m + 1, n + m + 1))
    forest = minimum_spanning_tree(graph).tocoo()
    n_pieces, labels = connected_components(forest, directed=False)
    roots = np.unique(labels, return_index=True)[1][:-1]  # the last vertex is artificial
    rows = np.concatenate([forest.row, np.full(n_pieces - 1, n + m)])
    columns = np.concatenate([forest.col, roots])
    tree = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=graph.shape)
    order, parents = breadth_first_order(tree, n + m, directed=False)
    return order, parents, n_pieces - 1


def _accurate_sums(A: sparse.csr_array, axis: int) -> Array:
    """Return sums of A in extended precision: what is missing may be of the size of rounding."""
    return A.astype(np.longdouble).sum(axis=axis)
