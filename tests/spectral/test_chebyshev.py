import numpy as np
import pytest
from scipy import linalg, sparse

from dssc.spectral.chebyshev import chebyshev_eigenvectors, chebyshev_filter
from dssc.spectral.cpu_blocks import CpuBlocks
from tests.spectral.inputs import doubly_stochastic_graph, ring, span


def filtered_eigenvectors(N, known, n_wanted):
    rng = np.random.RandomState(0)
    ritz, converged = chebyshev_eigenvectors(
        CpuBlocks(N, known), n_wanted, rng, tol=1e-6, allow_double=True
    )
    assert converged
    return ritz


@pytest.mark.parametrize("n_pieces", [1, 3])
def test_filtered_iteration_finds_the_leading_eigenvectors(n_pieces, rng):
    N = doubly_stochastic_graph(rng, 600, n_pieces=n_pieces)
    known = sparse.csr_array(
        np.repeat(np.eye(n_pieces), 600 // n_pieces, axis=0) / np.sqrt(600 // n_pieces)
    )
    _, vectors, residuals = filtered_eigenvectors(N, known, 5)
    values = linalg.eigvalsh(N.toarray())[::-1]
    quotients = np.sum(vectors * (N @ vectors), axis=0)
    np.testing.assert_allclose(quotients, values[n_pieces : n_pieces + 5], atol=1e-9)
    true_residual = np.linalg.norm(N @ vectors - vectors * quotients, axis=0).max()
    assert true_residual <= residuals.max() * 1.01 + 1e-14 <= 2e-6
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(5), atol=1e-12)
    assert np.abs(known.T @ vectors).max() < 1e-12


def test_double_eigenvalues_are_found_whole():
    N = ring(900)
    known = sparse.csr_array(np.full((900, 1), 1 / 30))
    vectors = filtered_eigenvectors(N, known, 6).vectors
    angle = 2 * np.pi * np.arange(900)[:, None] * np.array([1, 2, 3]) / 900
    waves = np.hstack([np.cos(angle), np.sin(angle)]) / np.sqrt(450)
    np.testing.assert_allclose(span(vectors), span(waves), atol=1e-4)


@pytest.mark.parametrize("degree", [1, 2, 5, 20])
@pytest.mark.parametrize("cut", [0.0, 0.7])
def test_the_filter_is_the_chebyshev_polynomial_scaled_to_one_at_one(cut, degree):
    N = np.linspace(-1.0, 1.0, 41)

    def combine(x, previous, scale, center, weight):
        return scale * (N * x - center * x) - (0.0 if previous is None else weight * previous)

    polynomial = np.polynomial.Chebyshev.basis(degree, domain=[-1.0, cut])
    expected = polynomial(N) / polynomial(1.0)
    ours = chebyshev_filter(combine, np.ones(41), cut, degree)
    np.testing.assert_allclose(ours, expected, atol=1e-14)


@pytest.mark.parametrize("double", [False, True])
def test_the_filter_leaves_its_input_unchanged(double, rng):
    N = ring(50)
    X = rng.standard_normal((50, 3))
    before = X.copy()
    blocks = CpuBlocks(N, sparse.csr_array((50, 0)))
    ours = blocks.filtered(X, 0.3, 9, double=double)
    np.testing.assert_array_equal(X, before)
    values, vectors = linalg.eigh(N.toarray())
    polynomial = np.polynomial.Chebyshev.basis(9, domain=[-1.0, 0.3])
    expected = vectors @ ((polynomial(values) / polynomial(1.0))[:, None] * (vectors.T @ X))
    np.testing.assert_allclose(ours, expected, atol=1e-12 if double else 1e-5)


class RecordedBlocks(CpuBlocks):
    """Blocks that keep the precision of every filter."""

    def __init__(self, N, known):
        super().__init__(N, known)
        self.doubles = []

    def filtered(self, X, cut, degree, *, double):
        self.doubles.append(double)
        return super().filtered(X, cut, degree, double=double)


@pytest.mark.parametrize("allow_double", [False, True])
def test_where_single_precision_stalls_double_follows_or_the_iteration_ends(
    allow_double, monkeypatch
):
    monkeypatch.setattr("dssc.spectral.chebyshev.MAX_DEGREE", 30)
    blocks = RecordedBlocks(ring(400), sparse.csr_array(np.full((400, 1), 1 / 20)))
    ritz, converged = chebyshev_eigenvectors(
        blocks, 6, np.random.RandomState(0), tol=1e-10, allow_double=allow_double
    )
    assert blocks.doubles == sorted(blocks.doubles)
    assert any(blocks.doubles) == allow_double
    assert (ritz.residuals.max() <= 1e-10) == converged == allow_double
    assert len(blocks.doubles) < 20
