import numpy as np
import pytest

from dssc._progress import Progress
from dssc.stochastic.dense_similarity import DenseSimilarity, is_symmetric
from tests.stochastic.brute_force import diagonal, missing_places, places

QUIET = Progress()


def random_similarity(rng, symmetric, n=400):
    K = rng.random((n, n))
    return K + K.T if symmetric else K


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("quantile", [0.5, 0.9, 0.999])
def test_missing_finds_every_positive_entry_outside(symmetric, quantile, rng):
    K = random_similarity(rng, symmetric)
    similarity = DenseSimilarity(K, symmetric)
    support = similarity.first_support(1e-3, diagonal(400), QUIET)
    assert support.matrix.nnz < 400 * 400 / 2
    level = np.quantile(K, quantile) / 2
    alpha = level + 0.05 * rng.standard_normal(400)
    beta = alpha if symmetric else level + 0.05 * rng.standard_normal(400) + 0.2
    missing = similarity.missing(support, (alpha, beta), 1e-3, QUIET)
    expected = missing_places(K, support, alpha, beta)
    assert expected <= places(missing, symmetric)
    # What comes beyond that is within the margin, and comes only with something missing.
    lowered = missing_places(K, support, alpha - 1e-4, beta)
    assert places(missing, symmetric) <= (lowered if expected else set())
    assert 0 <= missing.n_read <= (400 if symmetric else 800)
    np.testing.assert_array_equal(missing.values, K[missing.rows, missing.columns])


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("change", [1e-3, -1e-3, -0.2])
def test_a_second_reading_misses_nothing_when_potentials_move(symmetric, change, rng):
    K = random_similarity(rng, symmetric)
    similarity = DenseSimilarity(K, symmetric)
    support = similarity.first_support(1e-3, diagonal(400), QUIET)
    alpha = np.quantile(K, 0.8) / 2 + 0.05 * rng.standard_normal(400)
    for move in (0.0, change, 2 * change):
        w = alpha + move * rng.random(400)
        missing = similarity.missing(support, (w, w), 0.1, QUIET)
        assert missing_places(K, support, w, w) <= places(missing, symmetric)
        support = support.extended(missing.rows, missing.columns, missing.values)


def test_what_was_read_is_not_read_again(rng):
    K = random_similarity(rng, symmetric=True)
    similarity = DenseSimilarity(K, True)
    support = similarity.first_support(1e-3, diagonal(400), QUIET)
    w = np.full(400, np.quantile(K, 0.6) / 2)
    missing = similarity.missing(support, (w, w), 0.1, QUIET)
    support = support.extended(missing.rows, missing.columns, missing.values)
    similarity.K = np.full_like(K, np.nan)  # would be noticed, were it looked at
    assert len(similarity.missing(support, (w - 0.002, w - 0.002), 0.1, QUIET).rows) == 0


def test_the_bound_proves_most_rows_without_reading_them(rng):
    K = random_similarity(rng, symmetric=True)
    similarity = DenseSimilarity(K, True)
    support = similarity.first_support(1e-3, diagonal(400), QUIET)
    alpha = np.full(400, np.quantile(K, 0.95) / 2)
    missing = similarity.missing(support, (alpha, alpha), 1e-3, QUIET)
    assert len(missing.rows) == 0
    assert missing.n_read < 20


def test_largest_entries_are_those_of_the_rows(rng):
    K = rng.standard_normal((20, 20)) * (rng.random((20, 20)) < 0.3)
    expected = np.sort(K, axis=1)[:, ::-1][:, :5]
    similarity = DenseSimilarity(K, False)
    np.testing.assert_array_equal(similarity.largest_entries(5, QUIET), expected)


@pytest.mark.parametrize("place", [(3, 900), (900, 3), (700, 701)])
def test_a_single_asymmetric_entry_is_noticed(place):
    K = np.zeros((1000, 1000))
    assert is_symmetric(K)
    K[place] = 1e-16
    assert not is_symmetric(K)
