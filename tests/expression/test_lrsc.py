import numpy as np
import pytest
from scipy import optimize, sparse

from dssc import low_rank_representation, unit_norm


def objective(C, X, tau, alpha):
    """Return the cost of a symmetric C with the best A for it."""
    n = len(X)
    off = np.eye(n) - C
    A = np.linalg.solve(tau * off @ off + alpha * np.eye(n), alpha * X)
    nuclear = np.abs(np.linalg.eigvalsh(C)).sum()
    return nuclear + tau / 2 * np.sum((off @ A) ** 2) + alpha / 2 * np.sum((X - A) ** 2)


def least_objective(X, tau, alpha, rng):
    """Minimise over C = F F', whose nuclear norm is |F|^2, from several starts."""
    n = len(X)

    def cost(flat):
        F = flat.reshape(n, n)
        return objective(F @ F.T, X, tau, alpha)

    starts = [scale * rng.standard_normal(n * n) for scale in (0.1, 0.4, 0.4, 1.0)]
    return min(optimize.minimize(cost, start, method="L-BFGS-B").fun for start in starts)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("tau", "alpha"), [(10.0, 5.0), (2.0, 20.0), (4.0, 2.0), (50.0, 25.0)])
def test_agrees_with_a_direct_minimisation(tau, alpha, seed):
    rng = np.random.default_rng(seed)
    X = unit_norm(rng.standard_normal((5, 3))) * 1.5
    C = low_rank_representation(X, tau, alpha)
    ours = objective(C, X, tau, alpha)
    assert ours <= least_objective(X, tau, alpha, rng) + 1e-6
    for size in (1e-1, 1e-3):
        change = size * rng.standard_normal((50, 5, 5))
        for E in change + change.transpose(0, 2, 1):
            assert objective(C + E, X, tau, alpha) >= ours - 1e-12


def test_each_singular_value_takes_the_lower_of_two_minima():
    # With alpha = tau / 2 both sides of the threshold have a minimum in part of this range.
    tau, alpha = 4.0, 2.0
    grid = np.linspace(1e-3, 4, 200_001)
    for s in np.linspace(0.9, 1.7, 33):
        inner = np.where(grid > 1 / np.sqrt(tau), 1 - 1 / (2 * tau * grid**2), tau / 2 * grid**2)
        best = grid[np.argmin(alpha / 2 * (s - grid) ** 2 + inner)]
        expected = max(0.0, 1 - 1 / (tau * best**2))
        weight = low_rank_representation(np.array([[s], [0.0]]), tau, alpha)[0, 0]
        assert weight == pytest.approx(expected, abs=1e-4)


def test_small_tau_gives_nothing_and_large_tau_the_projection(rng):
    X = unit_norm(rng.standard_normal((20, 4)))
    assert not low_rank_representation(X, 1e-3, 5e-4).any()
    V = np.linalg.svd(X, full_matrices=False)[0]
    np.testing.assert_allclose(low_rank_representation(X, 1e9, 1e9), V @ V.T, atol=1e-6)


def test_single_precision_and_sparse_rows(rng):
    X = rng.standard_normal((30, 10))
    C = low_rank_representation(X, 10.0, 5.0)
    np.testing.assert_array_equal(low_rank_representation(sparse.csr_array(X), 10.0, 5.0), C)
    single = low_rank_representation(X.astype(np.float32), 10.0, 5.0)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, C, atol=1e-5)


@pytest.mark.parametrize(("tau", "alpha", "name"), [(0.0, 1.0, "tau=0"), (1.0, -1.0, "alpha=-1")])
def test_bad_parameters_are_explained(tau, alpha, name):
    with pytest.raises(ValueError, match=name):
        low_rank_representation(np.eye(3), tau, alpha)


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_parameters_whose_product_is_out_of_range_are_refused(size, rng):
    with pytest.raises(ValueError, match=r"tau=.* times alpha=.* out of range"):
        low_rank_representation(unit_norm(rng.standard_normal((5, 3))), size, size)
