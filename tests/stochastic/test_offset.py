import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from dssc import project_doubly_stochastic, quadratic_transport
from dssc.stochastic.offset import without_offset
from tests.judge import as_dense, certify


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sign", [1, -1])
def test_subtracting_an_offset_is_exact(dtype, sign, rng):
    K = (sign * (4096 + rng.random((9, 9)))).astype(dtype)
    rest, offset = without_offset(K)
    assert abs(offset) >= 4096
    assert rest.dtype == dtype
    np.testing.assert_array_equal(rest.astype(np.longdouble) + offset, K)


@pytest.mark.parametrize("largest", [1.0, 1e308])
def test_ordinary_matrices_are_left_as_they_are(largest, rng):
    for K in (rng.random((9, 9)), rng.standard_normal((9, 9)), np.zeros((3, 3)), np.eye(4)):
        K *= largest / max(np.abs(K).max(), 1)
        rest, offset = without_offset(K)
        assert rest is K
        assert offset == 0
    full = sparse.csr_array(np.full((3, 3), 5.0))
    assert without_offset(full) == (full, 0.0)


@pytest.mark.parametrize("offset", [1e9, -1e9])
def test_an_offset_costs_no_digits_of_the_plan(offset, rng):
    """K + 1e9 is rounded to 1e-7, but its plan is the one of these rounded entries."""
    K = offset + rng.random((20, 20))
    expected = as_dense(project_doubly_stochastic(K - offset, 0.1).plan)
    result = project_doubly_stochastic(K, 0.1)
    certify(K, 0.1, result)
    np.testing.assert_allclose(as_dense(result.plan), expected, atol=1e-8)
    warm = project_doubly_stochastic(K, 0.1, potentials=result.potentials)
    assert warm.n_iter <= 2
    plan = quadratic_transport(K, 0.1, np.ones(20), np.ones(20)).plan
    np.testing.assert_allclose(as_dense(plan), expected, atol=1e-8)


@pytest.mark.parametrize(("offset", "eta2"), [(-1e12, 0.05), (1e12, 0.05), (0.7, 1e-15)])
@pytest.mark.parametrize("scale", [1.0, 1e-100])
def test_potentials_that_an_offset_rounds_away_prove_nothing(offset, eta2, scale, rng):
    """The plan is right, but the potentials that are returned do not show it."""
    K = offset + eta2 * rng.integers(0, 2, (12, 12))
    sums = np.full(12, scale)
    with pytest.warns(ConvergenceWarning, match="subtract it from K"):
        result = quadratic_transport(K, eta2 / scale, sums, sums)
    assert not result.converged
    assert result.gap > 1e-8
    rest = quadratic_transport(K - K.min(), eta2 / scale, sums, sums)
    assert rest.converged
    np.testing.assert_allclose(as_dense(result.plan), as_dense(rest.plan), atol=1e-8 * scale)
