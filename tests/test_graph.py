import numpy as np

from dssc.graph import as_graph, is_inside


def random_graph(rng, n=40):
    A = np.where(rng.uniform(size=(n, n)) < 0.15, rng.uniform(size=(n, n)), 0.0)
    return A + A.T


def test_entries_inside_hold_the_mass_on_the_own_cluster(rng):
    A, labels = random_graph(rng), rng.integers(0, 3, 40)
    expected = [A[i, labels == labels[i]].sum() / A[i].sum() for i in range(40)]
    graph = as_graph(A)
    rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    inside = np.bincount(rows, graph.data * is_inside(graph, labels))
    np.testing.assert_allclose(inside / np.bincount(rows, graph.data), expected)
