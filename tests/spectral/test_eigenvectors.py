import numpy as np
import pytest
from scipy import linalg, sparse
from sklearn.exceptions import ConvergenceWarning

from dssc import spectral_embedding
from dssc.spectral import eigenvectors
from dssc.spectral.chebyshev import chebyshev_eigenvectors


def doubly_stochastic_graph(rng, n, n_permutations=4, n_pieces=1):
    """Return the mean of random permutations within pieces, made symmetric."""
    A = sparse.csr_array((n, n))
    for piece in np.array_split(np.arange(n), n_pieces):
        for _ in range(n_permutations):
            to = rng.permutation(piece)
            P = sparse.csr_array((np.ones(len(piece)), (piece, to)), shape=(n, n))
            A = A + P + P.T
    return sparse.csr_array(A / (2 * n_permutations))


def ring(n, width=3):
    """Return the graph of a ring: its eigenvalues come in pairs and crowd below one."""
    A = sum(
        sparse.csr_array((np.ones(n), (np.arange(n), (np.arange(n) + step) % n)), shape=(n, n))
        for step in range(1, width + 1)
    )
    return sparse.csr_array(A + A.T) / (2 * width)


def span(U):
    return U @ U.T


@pytest.mark.parametrize("n_pieces", [1, 3])
def test_filtered_iteration_finds_the_leading_eigenvectors(n_pieces, rng):
    N = doubly_stochastic_graph(rng, 600, n_pieces=n_pieces)
    known = sparse.csr_array(
        np.repeat(np.eye(n_pieces), 600 // n_pieces, axis=0) / np.sqrt(600 // n_pieces)
    )
    vectors, residual = chebyshev_eigenvectors(N, known, 5, np.random.RandomState(0))
    values = linalg.eigvalsh(N.toarray())[::-1]
    quotients = np.sum(vectors * (N @ vectors), axis=0)
    np.testing.assert_allclose(quotients, values[n_pieces : n_pieces + 5], atol=1e-9)
    true_residual = np.linalg.norm(N @ vectors - vectors * quotients, axis=0).max()
    assert true_residual <= residual * 1.01 + 1e-14 <= 2e-6
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(5), atol=1e-12)
    assert np.abs(known.T @ vectors).max() < 1e-12


def test_double_eigenvalues_are_found_whole():
    N = ring(900)
    known = sparse.csr_array(np.full((900, 1), 1 / 30))
    vectors, _ = chebyshev_eigenvectors(N, known, 6, np.random.RandomState(0))
    angle = 2 * np.pi * np.arange(900)[:, None] * np.array([1, 2, 3]) / 900
    waves = np.hstack([np.cos(angle), np.sin(angle)]) / np.sqrt(450)
    np.testing.assert_allclose(span(vectors), span(waves), atol=1e-4)


def test_large_graphs_that_lanczos_cannot_resolve_are_filtered(monkeypatch):
    expected = span(spectral_embedding(ring(900), 7, random_state=0))
    monkeypatch.setattr(eigenvectors, "FACTORED_SIZE", 500)
    monkeypatch.setattr(eigenvectors, "RESTARTS_WHEN_LARGE", 1)
    monkeypatch.setattr(eigenvectors, "_inverse_near_one", None)
    found = span(spectral_embedding(ring(900), 7, random_state=0))
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_a_large_residual_is_reported(monkeypatch):
    monkeypatch.setattr(eigenvectors, "FACTORED_SIZE", 500)
    monkeypatch.setattr(eigenvectors, "RESTARTS_WHEN_LARGE", 1)
    monkeypatch.setattr("dssc.spectral.chebyshev.MOST_ROUNDS", 1)
    with pytest.warns(ConvergenceWarning, match=r"residual of .* Raise eta2"):
        spectral_embedding(ring(5000), 7, random_state=0)


def test_two_points_joined_to_each_other_only():
    U = spectral_embedding(np.array([[0.0, 1.0], [1.0, 0.0]]), 2)
    np.testing.assert_allclose(np.abs(U), np.sqrt(0.5))
    np.testing.assert_allclose(U.T @ U, np.eye(2), atol=1e-12)
