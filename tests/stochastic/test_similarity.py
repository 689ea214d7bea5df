import numpy as np
import pytest
from scipy import sparse

from dssc import kernels
from dssc.stochastic.bounded import DenseSimilarity
from dssc.stochastic.similarity import SparseSimilarity

K_KERNELS = kernels.select()


def diagonal(n):
    return np.arange(n), np.arange(n)


def brute_force_missing(K, support, alpha, beta):
    held = support.matrix.copy()
    held.data[:] = 1.0
    outside = held.toarray() == 0
    return set(zip(*np.nonzero((alpha[:, None] + beta[None, :] < K) & outside), strict=True))


def places(missing, symmetric):
    found = set(zip(missing.rows, missing.columns, strict=True))
    if symmetric:
        assert all(i <= j for i, j in found)
        found |= {(j, i) for i, j in found}
    return found


def random_similarity(rng, symmetric, n=400):
    K = rng.random((n, n))
    return K + K.T if symmetric else K


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("quantile", [0.5, 0.9, 0.999])
def test_dense_missing_finds_every_positive_entry_outside(symmetric, quantile, rng):
    K = random_similarity(rng, symmetric)
    similarity = DenseSimilarity(K, K_KERNELS)
    support = similarity.first_support(1e-3, diagonal(400))
    assert support.matrix.nnz < 400 * 400 / 2
    level = np.quantile(K, quantile) / 2
    alpha = level + 0.05 * rng.standard_normal(400)
    beta = alpha if symmetric else level + 0.05 * rng.standard_normal(400) + 0.2
    missing = similarity.missing(support, (alpha, beta), 1e-3)
    expected = brute_force_missing(K, support, alpha, beta)
    assert expected <= places(missing, symmetric)
    # What comes beyond that is within the margin, and comes only with something missing.
    lowered = brute_force_missing(K, support, alpha - 1e-4, beta)
    assert places(missing, symmetric) <= (lowered if expected else set())
    assert 0 <= missing.n_read <= (400 if symmetric else 800)
    np.testing.assert_array_equal(missing.values, K[missing.rows, missing.columns])


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("change", [1e-3, -1e-3, -0.2])
def test_a_second_reading_misses_nothing_when_potentials_move(symmetric, change, rng):
    K = random_similarity(rng, symmetric)
    similarity = DenseSimilarity(K, K_KERNELS)
    support = similarity.first_support(1e-3, diagonal(400))
    alpha = np.quantile(K, 0.8) / 2 + 0.05 * rng.standard_normal(400)
    for move in (0.0, change, 2 * change):
        w = alpha + move * rng.random(400)
        missing = similarity.missing(support, (w, w), 0.1)
        assert brute_force_missing(K, support, w, w) <= places(missing, symmetric)
        support = support.extended(missing.rows, missing.columns, missing.values)


def test_what_was_read_is_not_read_again(rng):
    K = random_similarity(rng, symmetric=True)
    similarity = DenseSimilarity(K, K_KERNELS)
    support = similarity.first_support(1e-3, diagonal(400))
    w = np.full(400, np.quantile(K, 0.6) / 2)
    missing = similarity.missing(support, (w, w), 0.1)
    support = support.extended(missing.rows, missing.columns, missing.values)
    similarity.K = np.full_like(K, np.nan)  # would be noticed, were it looked at
    assert len(similarity.missing(support, (w - 0.002, w - 0.002), 0.1).rows) == 0


def test_the_bound_proves_most_rows_without_reading_them(rng):
    K = random_similarity(rng, symmetric=True)
    similarity = DenseSimilarity(K, K_KERNELS)
    support = similarity.first_support(1e-3, diagonal(400))
    alpha = np.full(400, np.quantile(K, 0.95) / 2)
    missing = similarity.missing(support, (alpha, alpha), 1e-3)
    assert len(missing.rows) == 0
    assert missing.n_read < 20


@pytest.mark.parametrize("symmetric", [True, False])
def test_sparse_missing_finds_every_negative_sum(symmetric, rng):
    K = sparse.random_array((80, 80), density=0.1, rng=rng, format="csr")
    K = sparse.csr_array(K + K.T) if symmetric else K
    similarity = SparseSimilarity(K)
    assert similarity.symmetric == symmetric
    support = similarity.first_support(1.0, diagonal(similarity.shape[0]))
    alpha = 0.3 + rng.standard_normal(80)
    beta = alpha if symmetric else 0.3 + rng.standard_normal(80)
    missing = similarity.missing(support, (alpha, beta), 1.0)
    assert places(missing, symmetric) == brute_force_missing(K.toarray(), support, alpha, beta)


def test_supports_hold_the_diagonal_and_grow_with_values_zero_included(rng):
    K = sparse.random_array((30, 30), density=0.05, rng=rng, format="csr")
    similarity = SparseSimilarity(K)
    support = similarity.first_support(1.0, diagonal(similarity.shape[0]))
    for i in range(30):
        assert i in support.matrix.indices[support.matrix.indptr[i] : support.matrix.indptr[i + 1]]
    missing = similarity.missing(support, (np.full(30, -1.0), np.full(30, 0.5)), 1.0)
    grown = support.extended(missing.rows, missing.columns, missing.values)
    assert grown.matrix.nnz == 30 * 30
    np.testing.assert_array_equal(grown.matrix.toarray(), K.toarray())


def test_largest_entries_of_both_kinds(rng):
    K = rng.standard_normal((20, 20)) * (rng.random((20, 20)) < 0.3)
    expected = np.sort(K, axis=1)[:, ::-1][:, :5]
    dense = DenseSimilarity(K, K_KERNELS).largest_entries(5)
    np.testing.assert_array_equal(dense, expected)
    np.testing.assert_array_equal(
        SparseSimilarity(sparse.csr_array(K)).largest_entries(5), expected
    )


@pytest.mark.parametrize("place", [(3, 900), (900, 3), (700, 701)])
def test_a_single_asymmetric_entry_is_noticed(place):
    K = np.zeros((1000, 1000))
    assert DenseSimilarity(K, K_KERNELS).symmetric
    K[place] = 1e-16
    assert not DenseSimilarity(K, K_KERNELS).symmetric
