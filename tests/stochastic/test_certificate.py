import numpy as np
import pytest
from scipy import sparse

from dssc.stochastic.certificate import (
    dual_value,
    duality_gap,
    marginal_error,
    round_to_feasible,
)


@pytest.fixture
def rough(rng):
    """A plan away from the optimum: the positive part of arbitrary potentials' slacks."""
    K = rng.random((12, 12))
    alpha, beta = 0.4 + 0.1 * rng.random(12), 0.3 + 0.1 * rng.random(12)
    slack = (K - alpha[:, None] - beta[None, :]) / 0.7
    return K, (alpha, beta), 0.7, sparse.csr_array(np.maximum(slack, 0))


def test_rounding_gives_a_doubly_stochastic_matrix(rough):
    *_, A = rough
    scaled, (rows, columns, mass) = round_to_feasible(A)
    filled = scaled.toarray()
    np.add.at(filled, (rows, columns), mass)
    assert np.all(filled >= 0)
    np.testing.assert_allclose(filled.sum(axis=0), 1)
    np.testing.assert_allclose(filled.sum(axis=1), 1)
    assert len(rows) <= 2 * 12


def test_the_gap_is_primal_less_dual_at_the_rounded_plan(rough):
    K, potentials, eta2, A = rough
    scaled, (rows, columns, mass) = round_to_feasible(A)
    feasible = scaled.toarray()
    np.add.at(feasible, (rows, columns), mass)
    primal = -np.sum(K * feasible) + eta2 / 2 * np.sum(feasible**2)
    alpha, beta = potentials
    slack = np.maximum(K - alpha[:, None] - beta[None, :], 0)
    dual = -alpha.sum() - beta.sum() - np.sum(slack**2) / (2 * eta2)
    assert dual_value(A, potentials, eta2) == pytest.approx(dual, rel=1e-12)
    gap = duality_gap(A, lambda i, j: K[i, j], potentials, eta2, dual)
    assert gap == pytest.approx((primal - dual) / max(1, abs(dual)), rel=1e-10)


def test_marginal_error_looks_at_rows_and_columns():
    assert marginal_error(sparse.csr_array([[1.0, 0.0], [0.25, 0.75]])) == 0.25
    assert marginal_error(sparse.csr_array([[1.0, 0.5], [0.0, 0.5]])) == 0.5
