import numpy as np
import pytest
from scipy import linalg, sparse
from sklearn.exceptions import ConvergenceWarning

from dssc import spectral_embedding
from dssc.spectral import StartVectors, eigenvectors, embedding_from
from tests.spectral.inputs import doubly_stochastic_graph, ring, span


def test_large_graphs_are_filtered_until_they_are_resolved(monkeypatch):
    expected = span(spectral_embedding(ring(900), 7, random_state=0))
    monkeypatch.setattr(eigenvectors, "FACTORED_SIZE", 500)
    monkeypatch.setattr(eigenvectors, "_factored", None)
    filtered = span(spectral_embedding(ring(900), 7, random_state=0))
    np.testing.assert_allclose(filtered, expected, atol=1e-4)


def test_a_large_residual_is_reported(monkeypatch):
    monkeypatch.setattr(eigenvectors, "FACTORED_SIZE", 500)
    monkeypatch.setattr(eigenvectors, "MAX_ROUNDS", 1)
    with pytest.warns(ConvergenceWarning, match=r"residual of .* Raise eta2") as record:
        spectral_embedding(ring(5000), 7, random_state=0)
    assert record[0].filename == __file__


@pytest.mark.parametrize("size_of_large", [500, 5000])  # in another order, and in this one
def test_an_iteration_goes_on_where_one_for_a_similar_graph_ended(size_of_large, monkeypatch, rng):
    monkeypatch.setattr(eigenvectors, "FACTORED_SIZE", size_of_large)
    degrees = []
    filtered = eigenvectors.CpuBlocks.filtered

    def counted(self, X, cut, degree, *, double):
        degrees.append(degree)
        return filtered(self, X, cut, degree, double=double)

    monkeypatch.setattr(eigenvectors.CpuBlocks, "filtered", counted)
    pieces, links = (doubly_stochastic_graph(rng, 1200, n_pieces=n) for n in (5, 1))
    graph, other = ((1.0 - share) * pieces + share * links for share in (0.05, 0.06))
    start = StartVectors()
    sizes = 5, 5, None
    embedding_from(start, graph, *sizes, np.random.RandomState(0))
    n_cold = sum(degrees)
    assert start.vectors.shape[1] > 4
    degrees.clear()
    warm = embedding_from(start, other, *sizes, np.random.RandomState(1))
    assert sum(degrees) < 0.7 * n_cold
    fresh = spectral_embedding(other, 5, random_state=0)
    np.testing.assert_allclose(span(warm), span(fresh), atol=1e-4)


def test_points_of_left_out_components_have_no_start(rng):
    graph = sparse.block_diag([doubly_stochastic_graph(rng, 900, n_pieces=2), np.ones((3, 3)) / 3])
    start = StartVectors()
    for _ in range(2):
        with pytest.warns(UserWarning, match="3 connected components"):
            U = embedding_from(start, sparse.csr_array(graph), 2, 4, None, np.random.RandomState(0))
        assert not U[900:].any()


def test_two_points_joined_to_each_other_only():
    U = spectral_embedding(np.array([[0.0, 1.0], [1.0, 0.0]]), 2)
    np.testing.assert_allclose(np.abs(U), np.sqrt(0.5))
    np.testing.assert_allclose(U.T @ U, np.eye(2), atol=1e-12)


@pytest.mark.parametrize("n_wanted", [12, 60])  # some of the eigenvectors of 200 points, and most
def test_small_graphs_have_the_eigenvectors_of_a_dense_matrix(n_wanted, monkeypatch, rng):
    graph = doubly_stochastic_graph(rng, 200)
    vectors = linalg.eigh(graph.toarray())[1]  # its degrees are one
    found = spectral_embedding(graph, n_wanted, random_state=0)
    np.testing.assert_allclose(span(found), span(vectors[:, -n_wanted:]), atol=1e-8)

    def fails_on_parts(matrix, subset_by_index=None, driver=None):
        if subset_by_index is not None:
            raise linalg.LinAlgError("hard to find")
        return whole(matrix, driver=driver)

    whole = linalg.eigh
    monkeypatch.setattr(eigenvectors.linalg, "eigh", fails_on_parts)
    again = spectral_embedding(graph, n_wanted, random_state=0)
    np.testing.assert_allclose(span(again), span(found), atol=1e-8)
