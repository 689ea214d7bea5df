import numpy as np
import pytest
from hypothesis import given, settings

from dssc import fetch_orl, fetch_umist, unit_norm
from dssc.joint import JointModel, newton, solve_joint
from dssc.kernels import joint  # noqa: F401  compiled once, before hypothesis measures times
from tests.joint.reference import PARAMETERS, SMALL_PROBLEMS, certify, random_model, solve_by_cvxpy


@pytest.mark.parametrize("seed", range(10))
def test_agrees_with_a_general_solver_and_the_gap_bounds_the_error(seed):
    model = random_model(seed, PARAMETERS[seed])
    optimum, C_p, C_q, _ = solve_by_cvxpy(model)
    result = newton.solve(model, tol=1e-7, max_iter=50)
    certify(model, result, 1e-7)
    assert result.objective == pytest.approx(optimum, rel=1e-6)
    scale = max(1.0, abs(optimum))
    assert result.dual <= optimum + 1e-8 * scale
    assert result.objective - optimum <= (result.gap + 1e-8) * scale
    np.testing.assert_allclose(
        result.representation @ model.X, (C_p - C_q) @ model.X, atol=2e-3
    )  # the fit is unique even where C is not


@pytest.mark.parametrize("seed", range(10))
def test_early_gaps_bound_the_error_too(seed):
    model = random_model(seed, PARAMETERS[seed])
    optimum = newton.solve(model, tol=1e-9, max_iter=50).objective
    early = newton.solve(model, tol=1e-12, max_iter=1)
    assert early.dual <= optimum * (1 + 1e-8)
    assert early.objective >= optimum * (1 - 1e-8)


@settings(max_examples=15)
@given(**SMALL_PROBLEMS)
def test_every_small_problem_is_certified(seed, n, eta1, eta2, eta3):
    model = random_model(seed, (eta1, eta2, eta3), n)
    result = newton.solve(model, tol=1e-6, max_iter=25)
    # With eta3 and an eta2 so large that A is dense, the sets of nonzero coefficients may cycle;
    # the result must say so, and its gap must still be true.
    if eta3 == 0.0 or eta2 <= 0.2:
        assert result.converged, result.status
    certify(model, result, 1e-6 if result.converged else np.inf)
    assert result.converged or "not converged: gap" in result.status


def test_order_of_points_does_not_matter():
    model = random_model(3, (1.0, 0.3, 0.05), 30)
    order = np.random.default_rng(0).permutation(30)
    other = JointModel(np.ascontiguousarray(model.X[order]), 1.0, 0.3, 0.05)
    one = newton.solve(model, tol=1e-8, max_iter=50)
    two = newton.solve(other, tol=1e-8, max_iter=50)
    assert one.objective == pytest.approx(two.objective, rel=2e-8)


@pytest.mark.parametrize("eta3", [0.0, 0.1])
def test_single_precision_is_kept_and_close(eta3):
    model = random_model(1, (1.0, 0.3, eta3), 60)
    single = JointModel(model.X.astype(np.float32), 1.0, 0.3, eta3)
    one = newton.solve(model, tol=1e-6, max_iter=50)
    two = newton.solve(single, tol=1e-5, max_iter=50)
    assert two.representation.dtype == np.float32
    assert two.converged, two.status
    assert two.objective == pytest.approx(one.objective, rel=1e-5)


@pytest.mark.parametrize("parameters", [(0.01, 0.05, 0.1), (1.0, 0.1, 0.1), (0.25, 0.2, 0.0)])
def test_orl(parameters, data_home):
    X = unit_norm(fetch_orl(return_X_y=True)[0])
    result = newton.solve(JointModel(X, *parameters), tol=1e-6, max_iter=50)
    certify(JointModel(X, *parameters), result, 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("eta3", [0.0, 0.1])
@pytest.mark.parametrize("fetch", [fetch_orl, fetch_umist])
def test_the_whole_grid_of_the_paper(fetch, eta3, data_home):
    X = unit_norm(fetch(return_X_y=True)[0])
    for eta1 in (0.01, 0.25, 1.0, 25.0):
        for eta2 in (0.01, 0.05, 0.1, 0.2):
            model = JointModel(X, eta1, eta2, eta3)
            result = newton.solve(model, tol=1e-6, max_iter=50)
            assert result.gap <= 1e-6, (eta1, eta2, result.status)


def test_two_orthogonal_points_come_to_an_end():
    # Newton's system is not finite here, and no shift of its diagonal helps.
    result = solve_joint(np.eye(2), 1.0, 0.5, 0.0, solver="newton")
    assert result.converged
    assert np.abs(result.representation).max() == 0.0
