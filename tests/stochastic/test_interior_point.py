import numpy as np
import pytest
from scipy import sparse

from dssc import quadratic_transport
from dssc.stochastic.interior_point import central_potentials
from dssc.stochastic.support import Support


def uneven(rng, n, m):
    """Return a sparse K and marginals that span six orders of magnitude."""
    K = sparse.csr_array(rng.standard_normal((n, m)) * (rng.random((n, m)) < 0.3))
    a, b = np.exp(3 * rng.standard_normal(n)), np.exp(3 * rng.standard_normal(m))
    return K, a / a.sum(), b / b.sum()


@pytest.mark.parametrize("symmetric", [True, False])
def test_potentials_give_the_wanted_sums(symmetric, rng):
    K = rng.random((30, 30))
    K = K + K.T if symmetric else K
    support = Support(sparse.csr_array(K), symmetric)
    targets = np.exp(rng.standard_normal(30))
    targets = support.targets((targets, targets))
    w, n_iter = central_potentials(
        support.graph, targets, np.ones(len(targets)), np.zeros(len(targets)), 1e-10, 100
    )
    assert 0 < n_iter < 40
    alpha, beta = support.split(w)
    A = np.maximum(K - alpha[:, None] - beta, 0.0)
    # x s is at most 900 tol, so the positive part of x - s is off by its root at most.
    within = 30 * np.sqrt(900 * 1e-10)
    np.testing.assert_allclose(A.sum(axis=1), targets[:30], rtol=0, atol=within)
    np.testing.assert_allclose(A.sum(axis=0), targets[-30:], rtol=0, atol=within)


@pytest.mark.parametrize("seed", [1336, 1303, 1309])
@pytest.mark.parametrize("log_reg", [-3.0, -1.5])
def test_very_uneven_marginals_are_met(seed, log_reg):
    K, a, b = uneven(np.random.default_rng(seed), 22, 29)
    result = quadratic_transport(K, 29 * 10.0**log_reg, a, b)
    assert result.converged, result.status
    np.testing.assert_allclose(result.plan.sum(axis=1), a, rtol=0, atol=1e-8)


def test_a_larger_uneven_problem_converges(rng):
    K, a, b = uneven(rng, 120, 150)
    result = quadratic_transport(K, 1.0, a, b)
    assert result.converged, result.status
