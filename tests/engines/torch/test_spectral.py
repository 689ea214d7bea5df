import numpy as np
import pytest
import torch
from scipy import sparse

from dssc import project_doubly_stochastic, spectral_embedding
from dssc.engines.torch.graph import csr_on_device
from dssc.engines.torch.kmeans import device_labels
from dssc.engines.torch.spectral import device_embedding, eigenvalues_on_device
from dssc.spectral.fading import eigenvalues_of
from tests.graphs import block_diagonal


def affinity(rng, sizes, noise=0.05):
    """Return a sparse doubly stochastic matrix of weakly joined blocks."""
    n = sum(sizes)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    K = (labels[:, None] == labels) * rng.random((n, n)) + noise * rng.random((n, n))
    return sparse.csr_array(project_doubly_stochastic(K + K.T, 2.0).plan), labels


def embedded(A, n_clusters, n_components, where):
    csr = csr_on_device(A, where)
    return device_embedding(A, csr, n_clusters, n_components, None, np.random.RandomState(0))


def test_eigenvectors_span_what_the_cpu_s_span(where, rng):
    A, _ = affinity(rng, [200, 150, 250], noise=0.9)
    ours = embedded(A, 3, 5, where)
    theirs = spectral_embedding(A, 3, n_components=5, random_state=0)
    assert np.linalg.norm(ours - theirs @ (theirs.T @ ours)) < 1e-3
    np.testing.assert_allclose(ours.T @ ours, np.eye(5), atol=1e-8)


def test_eigenvalues_are_those_of_the_cpu(where, rng):
    A, _ = affinity(rng, [60, 50, 40], noise=0.9)
    vectors = spectral_embedding(A, 3, n_components=5, random_state=0)
    ours = eigenvalues_on_device(csr_on_device(A, where), vectors)
    np.testing.assert_allclose(ours, eigenvalues_of(vectors, A), atol=1e-13)


@pytest.mark.parametrize("n_components", [2, 3, 6])
def test_separate_components_are_known_exactly(n_components, where, rng):
    parts = [affinity(rng, [size])[0] for size in (120, 80, 100)]
    A = block_diagonal(parts)
    ours = embedded(A, 3, n_components, where)
    theirs = spectral_embedding(A, 3, n_components=n_components, random_state=0)
    n_known = min(3, n_components)
    np.testing.assert_allclose(ours[:, :n_known], theirs[:, :n_known], atol=1e-12)


def test_strays_have_zero_rows_and_join_the_most_similar_cluster(where, rng):
    parts = [affinity(rng, [size])[0] for size in (150, 150)]
    A = block_diagonal([*parts, np.eye(3)])
    similarity = np.zeros((303, 303))
    similarity[300:, :150] = similarity[:150, 300:] = 1.0
    with pytest.warns(UserWarning, match="5 connected components"):
        U = embedded(A, 2, 3, where)
    assert not U[300:].any()

    def mass(rows, members):
        return torch.as_tensor(2 * similarity[rows.cpu()], device=where) @ members.double()

    labels = device_labels(U, 2, 5, mass, np.random.RandomState(0), where)
    assert np.all(labels[300:] == labels[0])
    assert labels[0] != labels[200]


def test_a_piece_with_fewer_points_than_components_leaves_columns_zero(where):
    triangle = np.array([[0.2, 0.5, 0.3], [0.5, 0.1, 0.4], [0.3, 0.4, 0.3]])
    A = block_diagonal([triangle, sparse.eye_array(80)])
    with pytest.warns(UserWarning, match="81 connected components"):
        ours = embedded(A, 4, 8, where)
    with pytest.warns(UserWarning, match="81 connected components"):
        theirs = spectral_embedding(A, 4, n_components=8, random_state=0)
    assert not ours[:, 3:].any()
    np.testing.assert_allclose(ours, theirs, atol=1e-5)
