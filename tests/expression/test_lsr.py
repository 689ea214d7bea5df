import numpy as np
import pytest
from scipy import sparse

from dssc import least_squares_representation, unit_norm


def row_by_row(X, eta1):
    """Solve a ridge regression of each row on all others."""
    n = len(X)
    C = np.zeros((n, n))
    for i in range(n):
        others = np.delete(np.arange(n), i)
        stacked = np.vstack([X[others].T, np.sqrt(eta1) * np.eye(n - 1)])
        target = np.concatenate([X[i], np.zeros(n - 1)])
        C[i, others] = np.linalg.lstsq(stacked, target, rcond=None)[0]
    return C


@pytest.mark.parametrize(("n", "d"), [(40, 10), (10, 40), (25, 25), (2, 1), (2, 5)])
@pytest.mark.parametrize("eta1", [1e-6, 0.01, 1.0, 100.0])
def test_agrees_with_ridge_regressions(n, d, eta1, rng):
    X = unit_norm(rng.standard_normal((n, d)))
    np.testing.assert_allclose(
        least_squares_representation(X, eta1), row_by_row(X, eta1), atol=1e-9
    )


def test_gradient_vanishes_off_the_diagonal(rng):
    X, eta1 = unit_norm(rng.standard_normal((100, 20))), 0.3
    C = least_squares_representation(X, eta1)
    gradient = (C @ X - X) @ X.T + eta1 * C
    np.fill_diagonal(gradient, 0.0)
    assert np.abs(gradient).max() < 1e-13
    assert not np.diag(C).any()


def test_duplicates_and_rank_deficient_data(rng):
    X = unit_norm(np.repeat(rng.standard_normal((5, 2)), 8, axis=0) @ rng.standard_normal((2, 12)))
    np.testing.assert_allclose(least_squares_representation(X, 0.1), row_by_row(X, 0.1), atol=1e-10)


@pytest.mark.parametrize(("n", "d"), [(40, 10), (10, 40)])
def test_sparse_rows_give_the_same(n, d, rng):
    X = unit_norm(rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.5) + np.eye(n, d) * 0.1)
    np.testing.assert_allclose(
        least_squares_representation(sparse.csr_array(X), 0.5),
        least_squares_representation(X, 0.5),
        atol=1e-14,
    )


def test_single_precision_is_kept(rng):
    X = unit_norm(rng.standard_normal((60, 10)))
    C = least_squares_representation(X.astype(np.float32), 0.5)
    assert C.dtype == np.float32
    np.testing.assert_allclose(C, least_squares_representation(X, 0.5), atol=1e-6)


def test_the_appendix_formula_differs_because_it_keeps_the_diagonal(rng):
    X, eta1 = unit_norm(rng.standard_normal((30, 10))), 1.0
    with_diagonal = np.linalg.inv(X @ X.T + eta1 * np.eye(30)) @ X @ X.T
    C = least_squares_representation(X, eta1)
    np.testing.assert_allclose(
        C, with_diagonal.T / (1 - np.diag(with_diagonal))[:, None] * (1 - np.eye(30))
    )


@pytest.mark.parametrize(("n", "d"), [(30, 8), (8, 30)])
def test_an_infinite_penalty_gives_the_limit(n, d, rng):
    X = unit_norm(rng.standard_normal((n, d)))
    C = least_squares_representation(X, np.inf)
    np.testing.assert_allclose(C, X @ X.T - np.eye(n), atol=1e-14)
    np.testing.assert_allclose(C, 1e9 * least_squares_representation(X, 1e9), atol=1e-6)
