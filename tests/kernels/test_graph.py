import numpy as np
import pytest
from scipy import sparse

from dssc.kernels import graph
from dssc.kernels.reference import graph as reference
from tests.kernels.inputs import random_graph


def test_chebyshev_step_agrees_with_numpy(graph_and_potentials, rng):
    (indptr, indices, data), w = graph_and_potentials
    x, y = rng.standard_normal((2, len(w), 3))
    out, expected = np.full_like(x, 7.0), np.full_like(x, 7.0)
    for kernels, target in ((graph, out), (reference, expected)):
        kernels.chebyshev_step(2, len(w) - 1, indptr, indices, data, x, y, 1.3, -0.2, 0.7, target)
    np.testing.assert_allclose(out, expected, atol=1e-13)
    assert np.all(out[[0, 1, -1]] == 7.0)


@pytest.mark.parametrize("density", [0.0, 0.02, 0.3])
def test_breadth_first_order_agrees_with_python(density, rng):
    (indptr, indices, _), _ = random_graph(rng, 60, density)
    order, expected = np.empty((2, 60), dtype=np.int64)
    graph.breadth_first_order(indptr, indices, np.zeros(60, dtype=bool), order)
    reference.breadth_first_order(indptr, indices, np.zeros(60, dtype=bool), expected)
    np.testing.assert_array_equal(order, expected)
    assert sorted(order) == list(range(60))


def test_neighbours_are_close_in_breadth_first_order(rng):
    shuffled = rng.permutation(300)
    path = sparse.diags_array([1.0, 1.0], offsets=[-1, 1], shape=(300, 300), format="csr")
    path = path[shuffled][:, shuffled]
    order = np.empty(300, dtype=np.int64)
    graph.breadth_first_order(path.indptr, path.indices, np.zeros(300, dtype=bool), order)
    entries = path[order][:, order].tocoo()
    assert np.abs(entries.row - entries.col).max() <= 2
