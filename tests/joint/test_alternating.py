import cvxpy as cp
import numpy as np
import pytest

from dssc import ADSSC
from dssc.joint import alternating, newton
from tests.joint.reference import PARAMETERS, random_model
from tests.judge import as_dense


@pytest.mark.parametrize("seed", [0, 4, 5, 6, 9])
def test_minimising_over_C_agrees_with_a_general_solver(seed):
    model = random_model(seed, PARAMETERS[seed], 10)
    rng = np.random.default_rng(0)
    A = (np.eye(10)[rng.permutation(10)] + np.eye(10)[rng.permutation(10)]) / 2
    C_p, C_q = cp.Variable((10, 10), nonneg=True), cp.Variable((10, 10), nonneg=True)
    W = C_p + C_q
    value = (
        cp.sum_squares(model.X - (C_p - C_q) @ model.X) / 2
        + model.eta1 / 2 * cp.sum_squares(W - model.eta2 * A)
        + model.eta3 * cp.sum(W)
    )
    problem = cp.Problem(cp.Minimize(value), [cp.diag(C_p) == 0, cp.diag(C_q) == 0])
    problem.solve(solver=cp.CLARABEL, tol_gap_rel=1e-10, tol_gap_abs=1e-10)
    C = alternating.minimise_over_C(model, np.zeros((10, 10)), A)
    assert model.objective(C, A) == pytest.approx(problem.value, rel=1e-6)


def test_one_step_is_adssc():
    X = random_model(1, PARAMETERS[1], 40).X
    model = random_model(1, (0.5, 0.05, 0.0), 40)
    result = alternating.solve(model, tol=1e-6, n_steps=1)
    adssc = ADSSC(2, eta1=0.5, eta2=0.05, symmetric=False, random_state=0).fit(X)
    np.testing.assert_allclose(result.representation, adssc.representation_matrix_, atol=1e-12)
    np.testing.assert_allclose(as_dense(result.plan), adssc.affinity_matrix_.toarray(), atol=1e-7)


@pytest.mark.parametrize("parameters", [(0.5, 0.3, 0.0), (1.0, 0.3, 0.1)])
def test_the_model_s_value_falls_and_stays_above_the_optimum(parameters):
    model = random_model(2, parameters, 30)
    result = alternating.solve(model, tol=1e-6, n_steps=6)
    optimum = newton.solve(model, tol=1e-8, max_iter=50)
    assert np.all(np.diff(result.history) <= 1e-9 * result.history[0])
    assert result.objective >= optimum.objective * (1 - 1e-8)
    assert result.dual <= optimum.objective * (1 + 1e-8)
    assert len(result.history) == 6
