import numpy as np
import pytest

from dssc import ADSSC, make_union_of_subspaces
from dssc.spectral import faded, fading_components, spectral_embedding
from dssc.spectral.fading import eigenvalues_of, fading_weights


def faded_embedding(A, k):
    n_components = fading_components(A.shape[0], k)
    vectors = spectral_embedding(A, k, n_components=n_components, random_state=0)
    return faded(vectors, eigenvalues_of(vectors, A), k)


def test_weights_fall_with_the_distance_from_one():
    values = np.array([1.0, 0.99, 0.9, 0.8, -0.2])
    expected = [1.0, 1.0, 0.011 / 0.101, 0.011 / 0.201, 0.011 / 1.201]
    np.testing.assert_allclose(fading_weights(values, 2), expected)
    np.testing.assert_array_equal(fading_weights(values, 5), 1.0)


def test_no_weight_is_above_one_whatever_the_order():
    values = np.array([1.0, 0.5, 0.9, 0.7])  # strays come with zero columns, out of order
    assert np.all(fading_weights(values, 2) == [1.0, 1.0, 1.0, 1.0])


@pytest.fixture(scope="module")
def affinity():
    X, _ = make_union_of_subspaces(200, n_subspaces=4, noise=0.3, random_state=0)
    return ADSSC(4, eta1=1.0, n_neighbors=12, random_state=0).fit(X).affinity_matrix_


def test_columns_are_eigenvectors_times_weights(affinity):
    U = faded_embedding(affinity, 4)
    assert U.shape == (200, 10)
    plain = spectral_embedding(affinity, 4, n_components=10, random_state=0)
    values = np.linalg.eigvalsh(affinity.toarray())[::-1][:10]
    np.testing.assert_allclose(np.linalg.norm(U, axis=0), fading_weights(values, 4), atol=1e-6)
    np.testing.assert_allclose(U[:, :4], plain[:, :4])


def test_a_clear_gap_leaves_the_embedding_of_the_paper():
    A = np.kron(np.eye(3), np.full((10, 10), 0.1))
    U = faded_embedding(A, 3)
    assert np.linalg.norm(U[:, 3:], axis=0).max() < 2e-3
