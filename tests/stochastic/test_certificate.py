import numpy as np
import pytest
from scipy import sparse

from dssc.stochastic.certificate import (
    dense_gap,
    dual_value,
    duality_gap,
    marginal_error,
    pair_off,
    round_to_feasible,
)

UNIT = np.ones(12), np.ones(12)
UNEVEN = np.linspace(0.5, 1.5, 12), np.linspace(1.9, 0.1, 12)


@pytest.fixture
def rough(rng):
    """A plan away from the optimum: the positive part of arbitrary potentials' slacks."""
    K = rng.random((12, 12))
    alpha, beta = 0.4 + 0.1 * rng.random(12), 0.3 + 0.1 * rng.random(12)
    slack = (K - alpha[:, None] - beta[None, :]) / 0.7
    return K, (alpha, beta), 0.7, sparse.csr_array(np.maximum(slack, 0))


def test_rounding_gives_a_doubly_stochastic_matrix(rough):
    *_, A = rough
    for a, b in (UNIT, UNEVEN):
        scaled, (rows, columns, mass) = round_to_feasible(A, (a, b))
        filled = scaled.toarray()
        np.add.at(filled, (rows, columns), mass)
        assert np.all(filled >= 0)
        np.testing.assert_allclose(filled.sum(axis=1), a)
        np.testing.assert_allclose(filled.sum(axis=0), b)
        assert len(rows) <= 2 * 12


def test_rounding_a_symmetric_plan_fills_its_diagonal(rough):
    *_, A = rough
    A = sparse.csr_array(A + A.T)
    scaled, (rows, columns, mass) = round_to_feasible(A, UNIT, symmetric=True)
    np.testing.assert_array_equal(rows, columns)
    filled = scaled.toarray()
    np.add.at(filled, (rows, columns), mass)
    np.testing.assert_allclose(filled, filled.T, rtol=1e-15)
    np.testing.assert_allclose(filled.sum(axis=0), 1.0)
    assert np.all(filled >= 0)


def test_the_gap_is_primal_less_dual_at_the_rounded_plan(rough):
    K, potentials, eta2, A = rough
    alpha, beta = potentials
    for a, b in (UNIT, UNEVEN):
        scaled, (rows, columns, mass) = round_to_feasible(A, (a, b))
        feasible = scaled.toarray()
        np.add.at(feasible, (rows, columns), mass)
        primal = -np.sum(K * feasible) + eta2 / 2 * np.sum(feasible**2)
        slack = np.maximum(K - alpha[:, None] - beta[None, :], 0)
        dual = -alpha @ a - beta @ b - np.sum(slack**2) / (2 * eta2)
        assert dual_value(A, potentials, (a, b), eta2) == pytest.approx(dual, rel=1e-12)
        gap = duality_gap(A, lambda i, j: K[i, j], potentials, (a, b), eta2, dual, symmetric=False)
        expected = (primal - dual) / max(1, abs(dual))
        assert gap == pytest.approx(expected, rel=1e-10)
        if a is UNIT[0]:
            assert dense_gap(K, A.toarray(), potentials, eta2) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("n", [1, 2, 7])
def test_pairing_off_equal_vectors_gives_the_diagonal(n, rng):
    supply = rng.random(n)
    rows, columns, mass = pair_off(supply, supply)
    np.testing.assert_array_equal(rows, np.arange(n))
    np.testing.assert_array_equal(columns, np.arange(n))
    np.testing.assert_allclose(mass, supply)


def test_marginal_error_looks_at_rows_and_columns():
    ones = np.ones(2), np.ones(2)
    assert marginal_error(sparse.csr_array([[1.0, 0.0], [0.25, 0.75]]), ones) == 0.25
    assert marginal_error(sparse.csr_array([[1.0, 0.5], [0.0, 0.5]]), ones) == 0.5
    assert marginal_error(sparse.csr_array([[2.0, 1.0]]), (np.array([3.0]), np.array([2, 1]))) == 0
