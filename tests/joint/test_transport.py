import numpy as np
import pytest
from scipy import sparse

from dssc.joint import transport
from dssc.joint.dense import DenseEngine
from dssc.joint.entries import Entries
from dssc.joint.transport import CLINGING, Candidates, Cost, Newton
from dssc.kernels._numba import transport as kernels
from tests.joint.reference import random_model


def proximal_value(model, rho, V, C, W, A):
    value = rho / 2 * np.sum((C - V) ** 2) + model.eta1 / 2 * np.sum((W - model.eta2 * A) ** 2)
    return value + model.eta3 * np.sum(W)


def by_cvxpy(model, rho, V):
    """Return the least value of the proximal step, by a general solver."""
    n = len(V)
    cp = pytest.importorskip("cvxpy")
    C, W, A = cp.Variable((n, n)), cp.Variable((n, n)), cp.Variable((n, n), nonneg=True)
    value = (
        rho / 2 * cp.sum_squares(C - V)
        + model.eta1 / 2 * cp.sum_squares(W - model.eta2 * A)
        + model.eta3 * cp.sum(W)
    )
    sums = [cp.sum(A, axis=0) == 1, cp.sum(A, axis=1) == 1]
    problem = cp.Problem(cp.Minimize(value), [*sums, cp.abs(C) <= W, cp.diag(W) == 0])
    problem.solve(solver=cp.CLARABEL, tol_gap_rel=1e-10, tol_gap_abs=1e-10, tol_feas=1e-10)
    return problem.value


def all_entries(V, last):
    n = len(V)
    sizes = np.abs(V)
    np.fill_diagonal(sizes, 0.0)
    return Candidates(np.arange(n * n), sizes.ravel(), last.ravel())


@pytest.mark.parametrize(
    ("parameters", "rho"),
    [
        ((1.0, 0.1, 0.1), 1.0),  # C between, or zero
        ((0.25, 0.2, 0.0), 0.1),
        ((25.0, 0.01, 0.1), 10.0),
        ((1.0, 1.5, 0.05), 0.3),  # the dead zone, and entries of A without coefficient
        ((5.0, 3.0, 0.02), 1.0),
        ((0.5, 0.1, 0.9), 2.0),
    ],
)
def test_the_proximal_step_of_the_coupling(parameters, rho, rng):
    model = random_model(1, parameters, 9)
    V = 0.2 * rng.standard_normal((9, 9))
    np.fill_diagonal(V, 0.0)
    A, potentials = np.zeros((9, 9)), (np.zeros(9), np.zeros(9))
    for _ in range(400):  # where A clings to the last one, the step is repeated
        cost = Cost(model, rho, CLINGING)
        newton = Newton(cost, all_entries(V, A))
        values, potentials, _ = transport.solve(newton, potentials, 1e-12, 100)
        last, A = A, values.reshape(9, 9)
        if np.abs(A - last).max() < 1e-11:
            break
    np.testing.assert_allclose(A.sum(axis=0), 1.0, atol=1e-8)
    np.testing.assert_allclose(A.sum(axis=1), 1.0, atol=1e-8)
    engine = DenseEngine(model)
    engine.weigh(rho)
    engine.step(V, Entries(np.arange(81), A.ravel()).positive())
    C = engine.Y
    np.testing.assert_allclose(np.abs(C), cost.coefficients(np.abs(V), A) * (1 - np.eye(9)))
    W = np.maximum(np.abs(C), model.target(A))
    np.fill_diagonal(W, 0.0)
    value = proximal_value(model, rho, V, C, W, A)
    assert value == pytest.approx(by_cvxpy(model, rho, V), rel=1e-7)


def test_without_clinging_the_step_is_one_solve(rng):
    model = random_model(1, (1.0, 0.1, 0.1), 9)
    V = 0.3 * rng.standard_normal((9, 9))
    np.fill_diagonal(V, 0.0)
    start = (np.zeros(9), np.zeros(9))
    cost = Cost(model, 1.0)
    newton = Newton(cost, all_entries(V, np.zeros((9, 9))))
    A, (a, b), error = transport.solve(newton, start, 1e-12, 100)
    assert error <= 1e-12
    assert a.max() + b.max() < 0.1 * 0.1  # outside the dead zone
    C = np.sign(V) * cost.coefficients(np.abs(V), A.reshape(9, 9))
    W = np.maximum(np.abs(C), model.target(A.reshape(9, 9)))
    np.fill_diagonal(W, 0.0)
    value = proximal_value(model, 1.0, V, C, W, A.reshape(9, 9))
    assert value == pytest.approx(by_cvxpy(model, 1.0, V), rel=1e-7)


def test_conjugate_gradients_against_a_factorisation(rng):
    S = sparse.random_array((20, 20), density=0.2, rng=rng, format="csr")
    S_T = S.T.tocsr()
    by_row, by_column = S.sum(axis=1) + 0.1, S.sum(axis=0) + 0.1
    rhs = rng.standard_normal(20)
    x = np.zeros(20)
    parts = (S.indptr, S.indices, S.data, S_T.indptr, S_T.indices, S_T.data)
    kernels.solve_columns(*parts, by_row, by_column, rhs, 1e-13, 500, x)
    dense = S.toarray()
    system = np.diag(by_column) - dense.T @ np.diag(1 / by_row) @ dense
    np.testing.assert_allclose(x, np.linalg.solve(system, rhs), rtol=1e-8)
