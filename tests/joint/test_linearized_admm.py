import numpy as np
import pytest

from dssc import least_squares_representation
from dssc.joint import linearized_admm, newton
from dssc.joint.linearized_admm import LinearizedAdmm
from tests.joint.reference import random_model


def paper(model, n_iter, rho=0.5, tau=1e-4):
    """Run the updates as printed, in the paper's orientation; C_p and C_q step together."""
    X = model.X.T
    d, n = X.shape
    eta1, eta2, eta3 = model.eta1, model.eta2, model.eta3
    C = least_squares_representation(model.X, eta1).T
    C_p, C_q = np.maximum(C, 0), np.maximum(-C, 0)
    A = np.full((n, n), 1 / (n - 1))
    np.fill_diagonal(A, 0)
    Y, Z = A.copy(), np.zeros((d, n))
    lambda1, lambda2 = np.zeros((n, 1)), np.zeros((n, 1))
    Lambda1, Lambda2 = np.zeros((n, n)), np.zeros((d, n))
    one = np.ones((n, 1))
    P = np.eye(n) - one @ one.T / (2 * n + 1)
    for _ in range(n_iter):
        gradient = -X.T @ Lambda2 + rho * X.T @ (X @ (C_p - C_q) - Z)
        p, q = C_p - tau * gradient, C_q + tau * gradient
        common = eta1 * eta2 * A - eta3
        p, q = (
            np.maximum((p / tau - eta1 * C_q + common) / (eta1 + 1 / tau), 0),
            np.maximum((q / tau - eta1 * C_p + common) / (eta1 + 1 / tau), 0),
        )
        C_p, C_q = p, q
        np.fill_diagonal(C_p, 0)
        np.fill_diagonal(C_q, 0)
        A = np.maximum((eta1 * eta2 * (C_p + C_q) + Lambda1 + rho * Y) / (eta1 * eta2**2 + rho), 0)
        V = rho * A + 2 * rho - one @ lambda1.T - lambda2 @ one.T - Lambda1
        Y = (V - P @ V @ one @ one.T / (n + 1) - one @ one.T @ V @ P / (n + 1)) / rho
        XC = X @ (C_p - C_q)
        Z = (X - Lambda2 + rho * XC) / (1 + rho)
        lambda1 += rho * (Y.T @ one - 1)
        lambda2 += rho * (Y @ one - 1)
        Lambda1 += rho * (Y - A)
        Lambda2 += rho * (Z - XC)
    return C_p.T, C_q.T, A.T, Y.T, Z.T, Lambda2.T


# n below and above twice the number of features: both ways to form the gradient.
@pytest.mark.parametrize("n", [7, 40])
@pytest.mark.parametrize(("rho", "tau"), [(linearized_admm.RHO, linearized_admm.TAU), (0.05, 1e-3)])
def test_iterates_are_those_of_the_paper(n, rho, tau):
    model = random_model(3, (0.5, 0.2, 0.05), n)
    state = LinearizedAdmm(model, rho, tau)
    for _ in range(60):
        state.step()
    C_p, C_q, A, Y, Z, _ = paper(model, 60, rho, tau)
    np.testing.assert_allclose(state.C_p, C_p, atol=1e-12)
    np.testing.assert_allclose(state.C_q, C_q, atol=1e-12)
    np.testing.assert_allclose(state.A, A, atol=1e-12)
    np.testing.assert_allclose(state.gradient.Z(C_p - C_q), Z, atol=1e-12)
    f, g = state.sums.change
    np.testing.assert_allclose((f[:, None] + g) / rho, Y - A, atol=1e-12)


def test_residuals_by_their_definition():
    model = random_model(3, (0.5, 0.2, 0.05), 12)
    state = LinearizedAdmm(model)
    for _ in range(30):
        state.step()
    primal, dual = state.residuals()
    C_p, C_q, A, Y, Z, Lambda2 = paper(model, 30)
    gaps = [Y - A, Y.sum(axis=0) - 1, Y.sum(axis=1) - 1, Z - (C_p - C_q) @ model.X]
    assert primal == pytest.approx(max(np.abs(x).max() for x in gaps), rel=1e-9)
    G = Lambda2 @ model.X.T
    slope = 0.5 * (C_p + C_q - 0.2 * A)
    off = ~np.eye(12, dtype=bool)
    parts = [
        np.where(C_p > 0, np.abs(slope + 0.05 - G), np.maximum(G - slope - 0.05, 0))[off].max(),
        np.where(C_q > 0, np.abs(slope + 0.05 + G), np.maximum(-G - slope - 0.05, 0))[off].max(),
    ]
    assert dual >= max(parts) - 1e-12


def test_it_comes_closer_to_the_optimum_and_bounds_it():
    model = random_model(2, (1.0, 1.0, 0.1), 10)
    optimum = newton.solve(model, tol=1e-8, max_iter=50).objective
    early = linearized_admm.solve(model, tol=1e-9, max_iter=500)
    late = linearized_admm.solve(model, tol=1e-9, max_iter=1500, record_every=1500)
    assert optimum <= late.objective * (1 + 1e-9) <= early.objective * (1 + 1e-8)
    assert "500 iterations" in early.status
    assert early.dual <= optimum
