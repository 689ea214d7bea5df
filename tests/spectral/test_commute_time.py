import numpy as np
from scipy import sparse

from dssc import project_doubly_stochastic, spectral_embedding
from dssc.spectral import commute_time_embedding
from dssc.spectral.fading import eigenvalues_of


def doubly_stochastic(rng, n):
    K = rng.uniform(size=(n, n))
    return project_doubly_stochastic(K + K.T, eta2=5.0).plan


def commute_times(A):
    """Return the expected steps of a random walk from each point to each other and back."""
    n = len(A)
    hitting = np.zeros((n, n))
    for target in range(n):
        rest = np.delete(np.arange(n), target)
        system = np.eye(n - 1) - A[np.ix_(rest, rest)]
        hitting[rest, target] = np.linalg.solve(system, np.ones(n - 1))
    return hitting + hitting.T


def squared_distances(U):
    return np.square(U[:, None] - U[None]).sum(axis=2)


def test_squared_distances_are_commute_times(rng):
    A = doubly_stochastic(rng, 14)
    eigenvalues, vectors = np.linalg.eigh(A)
    U = commute_time_embedding(vectors[:, ::-1], eigenvalues[::-1])
    np.testing.assert_allclose(14 * squared_distances(U), commute_times(A), rtol=0.01)


def test_the_constant_vector_is_removed_from_components_too(rng):
    blocks = [doubly_stochastic(rng, 8), doubly_stochastic(rng, 6)]
    A = sparse.csr_array(sparse.block_diag(blocks))
    vectors = spectral_embedding(A, 2, n_components=4, random_state=0)
    U = commute_time_embedding(vectors, eigenvalues_of(vectors, A))
    np.testing.assert_allclose(U.sum(axis=0), 0.0, atol=1e-9)
    # The components are far apart: the walk never gets from one to the other.
    distances = squared_distances(U)
    assert distances[:8, 8:].min() > 20 * distances[:8, :8].max()


def test_points_without_an_embedding_stay_without(rng):
    A = sparse.csr_array(sparse.block_diag([doubly_stochastic(rng, 10), np.eye(1)]))
    vectors = np.zeros((11, 3))
    vectors[:10] = np.linalg.eigh(A.toarray()[:10, :10])[1][:, :-4:-1]
    U = commute_time_embedding(vectors, eigenvalues_of(vectors, A))
    assert not U[10].any()
    np.testing.assert_allclose(U[:10].sum(axis=0), 0.0, atol=1e-9)


def test_weights_move_the_constant_vector(rng):
    K = rng.uniform(size=(9, 9))
    affinity = K + K.T
    degrees = affinity.sum(axis=1)
    scaled = affinity / np.sqrt(np.outer(degrees, degrees))
    eigenvalues, vectors = np.linalg.eigh(scaled)
    U = commute_time_embedding(vectors[:, ::-1], eigenvalues[::-1], degrees)
    np.testing.assert_allclose(np.sqrt(degrees) @ U, 0.0, atol=1e-9)
    assert np.abs(U.sum(axis=0)).max() > 0.01
