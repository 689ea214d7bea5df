import numpy as np
import pytest
from scipy import sparse

from dssc.spectral.modularity import modularity
from dssc.spectral.walks import Walks


@pytest.fixture
def graph(rng):
    W = rng.random((30, 30)) * (rng.random((30, 30)) < 0.5)
    return W + W.T


def walks_of(graph):
    """Return the walks on a graph with all its eigenvectors."""
    roots = np.sqrt(graph.sum(axis=1))
    values, vectors = np.linalg.eigh(graph / np.outer(roots, roots))
    return Walks(sparse.csr_array(graph), vectors[:, ::-1], values[::-1])


def test_stability_of_one_step_is_the_modularity(graph, rng):
    labels = rng.integers(0, 4, 30)
    walks = walks_of(graph)
    assert walks.lengths[0] == 1.0
    expected = modularity(sparse.csr_array(graph), labels)
    assert walks.stability(labels)[0] == pytest.approx(expected)


@pytest.mark.parametrize("n_steps", [8, 64, 256])
def test_stability_is_the_share_of_walks_that_return_beyond_chance(graph, rng, n_steps):
    labels = rng.integers(0, 4, 30)
    walks = walks_of(graph)
    start = graph.sum(axis=1) / graph.sum()
    steps = np.linalg.matrix_power(graph / graph.sum(axis=1, keepdims=True), n_steps)
    same = labels[:, None] == labels
    expected = np.sum(start[:, None] * steps * same) - np.sum(np.outer(start, start) * same)
    place = walks.lengths.tolist().index(n_steps)
    # Walks of an even number of steps have a share of the negative eigenvalues, which is small.
    assert walks.stability(labels)[place] == pytest.approx(expected, abs=2e-5)


def test_walks_stay_in_a_component_for_ever(graph):
    both = np.kron(np.eye(2), graph)
    stability = walks_of(both).stability(np.repeat([0, 1], 30))
    np.testing.assert_allclose(stability[8:], 0.5, atol=1e-6)
