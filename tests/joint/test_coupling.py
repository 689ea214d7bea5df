import numpy as np
import pytest

from dssc.joint import coupling
from dssc.joint.coupling import ANCHORING, Candidates, CouplingCost
from dssc.joint.coupling_newton import CpuCouplingNewton
from dssc.joint.entries import Entries
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


def all_entries(V, previous):
    n = len(V)
    sizes = np.abs(V)
    np.fill_diagonal(sizes, 0.0)
    return Candidates(np.arange(n * n), sizes.ravel(), previous.ravel())


@pytest.mark.parametrize(
    ("parameters", "rho"),
    [
        ((1.0, 0.1, 0.1), 1.0),  # C nonzero, or zero
        ((0.25, 0.2, 0.0), 0.1),
        ((25.0, 0.01, 0.1), 10.0),
        ((1.0, 1.5, 0.05), 0.3),  # the dead zone, and entries of A without a coefficient
        ((5.0, 3.0, 0.02), 1.0),
        ((0.5, 0.1, 0.9), 2.0),
    ],
)
def test_the_proximal_step_of_the_coupling(parameters, rho, rng):
    model = random_model(1, parameters, 9)
    V = 0.2 * rng.standard_normal((9, 9))
    np.fill_diagonal(V, 0.0)
    A, potentials = np.zeros((9, 9)), (np.zeros(9), np.zeros(9))
    for _ in range(400):  # with A close to the previous iterate, the step is repeated
        cost = CouplingCost(model.penalty, rho, ANCHORING)
        newton = CpuCouplingNewton(cost, all_entries(V, A), 9)
        start = np.concatenate(potentials)
        values, potentials, _ = coupling.solve(newton, start, 1e-12, 100)
        previous, A = A, values.reshape(9, 9)
        if np.abs(A - previous).max() < 1e-11:
            break
    np.testing.assert_allclose(A.sum(axis=0), 1.0, atol=1e-8)
    np.testing.assert_allclose(A.sum(axis=1), 1.0, atol=1e-8)
    C = np.empty((9, 9))
    entries = Entries(np.arange(81), A.ravel()).positive()
    model.operations.coupling_step(V, entries, model.penalty, rho, C)
    np.testing.assert_allclose(np.abs(C), cost.coefficients(np.abs(V), A) * (1 - np.eye(9)))
    W = np.maximum(np.abs(C), model.penalty.target(A))
    np.fill_diagonal(W, 0.0)
    value = proximal_value(model, rho, V, C, W, A)
    assert value == pytest.approx(by_cvxpy(model, rho, V), rel=1e-7)


def test_without_anchoring_the_step_is_one_solve(rng):
    model = random_model(1, (1.0, 0.1, 0.1), 9)
    V = 0.3 * rng.standard_normal((9, 9))
    np.fill_diagonal(V, 0.0)
    cost = CouplingCost(model.penalty, 1.0)
    newton = CpuCouplingNewton(cost, all_entries(V, np.zeros((9, 9))), 9)
    A, (a, b), error = coupling.solve(newton, np.zeros(18), 1e-12, 100)
    assert error <= 1e-12
    assert a.max() + b.max() < 0.1 * 0.1  # outside the dead zone
    C = np.sign(V) * cost.coefficients(np.abs(V), A.reshape(9, 9))
    W = np.maximum(np.abs(C), model.penalty.target(A.reshape(9, 9)))
    np.fill_diagonal(W, 0.0)
    value = proximal_value(model, 1.0, V, C, W, A.reshape(9, 9))
    assert value == pytest.approx(by_cvxpy(model, 1.0, V), rel=1e-7)
