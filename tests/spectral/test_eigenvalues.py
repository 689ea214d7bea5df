import numpy as np
import pytest

from dssc.graph import as_graph, count_components
from dssc.spectral.eigenvalues import leading_eigenvalues
from dssc.spectral.eigenvectors import DENSE_SIZE
from tests.graphs import block_diagonal


def random_graph(rng, n=40):
    A = np.where(rng.uniform(size=(n, n)) < 0.15, rng.uniform(size=(n, n)), 0.0)
    return A + A.T


@pytest.mark.parametrize("n", [40, DENSE_SIZE + 50])
@pytest.mark.parametrize("n_blocks", [1, 3, 6])
def test_eigenvalues_are_those_of_the_normalised_affinity(rng, n, n_blocks):
    blocks = [random_graph(rng, n // n_blocks) + 1e-3 for _ in range(n_blocks)]
    A = block_diagonal(blocks).toarray() + 1e-16
    graph = as_graph(A)
    assert count_components(A) == n_blocks
    scale = 1 / np.sqrt(A.sum(axis=1))
    values, vectors = np.linalg.eigh(A * scale[:, None] * scale)
    computed = leading_eigenvalues(graph, 5, vectors[:, ::-1][:, :4])
    np.testing.assert_allclose(computed, values[::-1][:9], atol=3e-3)
    np.testing.assert_allclose(
        computed[: max(4, n_blocks)], values[::-1][: max(4, n_blocks)], atol=1e-9
    )
    np.testing.assert_allclose(computed[:n_blocks], 1.0)
    alone = leading_eigenvalues(graph, 9)
    np.testing.assert_allclose(alone, values[::-1][:9], atol=3e-3)


def test_strays_do_not_hide_the_spectrum(rng):
    A = block_diagonal([random_graph(rng, DENSE_SIZE), np.eye(3)])
    U = np.zeros((DENSE_SIZE + 3, 2))
    U[:DENSE_SIZE, 0] = 0.05
    computed = leading_eigenvalues(as_graph(A), 4, U)
    np.testing.assert_allclose(computed[:4], 1.0)
    assert computed[4] < 0.99
