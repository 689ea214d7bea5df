import numpy as np
import pytest
from scipy import sparse

from dssc.stochastic.certificate import (
    dense_gap,
    duality_gap,
    marginal_error,
    pair_off,
    round_to_feasible,
)
from tests.graphs import block_diagonal

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
        gap = gap_of(K, A, potentials, (a, b), eta2, tol=np.inf)
        expected = (primal - dual) / (eta2 * np.sum(feasible**2))
        assert gap == pytest.approx(expected, rel=1e-10)
        if a is UNIT[0]:
            dense = dense_gap(K, A.toarray(), potentials, eta2, tol=np.inf)
            assert dense == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1.0, 1e9])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_neither_scale_nor_offset_changes_the_gap(scale, offset, rough, rng):
    K, (alpha, beta), eta2, A = rough
    expected = gap_of(K, A, (alpha, beta), UNIT, eta2)
    u, v = offset * rng.random(12), offset * rng.random(12)
    K, potentials = scale * (K + u[:, None] + v), (scale * (alpha + u), scale * (beta + v))
    assert gap_of(K, A, potentials, UNIT, scale * eta2) == pytest.approx(expected, rel=1e-7)
    dense = dense_gap(K, A.toarray(), potentials, scale * eta2, tol=1e-8)
    assert dense == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("symmetric", [True, False])
def test_a_small_error_of_the_sums_costs_its_square(symmetric, rng):
    """With entries to carry it, also where every other entry is far below its potentials."""
    block = (1.0 - np.eye(6)) * (0.2 + 1e-7 * rng.random((6, 6)))
    block = (block + block.T) / 2 if symmetric else block
    A = block_diagonal([block, block])
    K = np.where(A.toarray() > 0, A.toarray(), -1e9)
    potentials = np.zeros(12), np.zeros(12)
    by_mass = gap_of(K, A, potentials, UNIT, 1.0, tol=np.inf, symmetric=symmetric)
    assert gap_of(K, A, potentials, UNIT, 1.0, symmetric=symmetric) <= 1e-12 < by_mass


def gap_of(K, A, potentials, marginals, eta2, tol=1e-8, symmetric=False):
    return duality_gap(
        A, lambda i, j: K[i, j], potentials, marginals, eta2, tol, symmetric=symmetric
    )


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
