import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings

from dssc import fetch_orl, fetch_umist, make_union_of_subspaces, unit_norm
from dssc.joint import JointModel, solve_joint, splitting
from dssc.joint.blocks import BLOCK
from dssc.joint.splitting import DouglasRachford
from tests.joint.reference import PARAMETERS, SMALL_PROBLEMS, certify, random_model, solve_by_cvxpy


def solve(model, tol=1e-6, max_iter=400):
    return splitting.solve(model, tol=tol, max_iter=max_iter)


@pytest.mark.parametrize("seed", range(10))
def test_agrees_with_a_general_solver_and_the_gap_bounds_the_error(seed):
    model = random_model(seed, PARAMETERS[seed])
    optimum, C_p, C_q, _ = solve_by_cvxpy(model)
    result = solve_joint(model.X, *PARAMETERS[seed], tol=1e-7)
    certify(model, result, 1e-7)
    assert result.objective == pytest.approx(optimum, rel=1e-6)
    scale = max(1.0, abs(optimum))
    assert result.dual <= optimum + 1e-8 * scale
    assert result.objective - optimum <= (result.gap + 1e-8) * scale
    np.testing.assert_allclose(
        result.representation @ model.X, (C_p - C_q) @ model.X, atol=2e-3
    )  # the fit is unique even where C is not


@settings(max_examples=25)
@given(**SMALL_PROBLEMS)
def test_every_small_problem_is_certified(seed, n, eta1, eta2, eta3):
    model = random_model(seed, (eta1, eta2, eta3), n)
    result = solve_joint(model.X, eta1, eta2, eta3)
    certify(model, result, 1e-6 if result.converged else np.inf)
    assert result.converged or "not converged: gap" in result.status
    if eta2 <= 0.2:
        assert result.converged, result.status


def test_the_lower_bound_is_the_model_s_and_does_not_change_the_iterate(rng):
    model = random_model(2, (1.0, 0.3, 0.05), 30)
    iteration = DouglasRachford(model)
    for _ in range(15):
        iteration.step()
        iteration.advance()
    iteration.step()
    F = iteration.F.copy()
    C = F / 1.6 + iteration.Y
    R = model.residual(C)
    expected = model.lower_bound(model.products(R), iteration.potentials, R @ model.X.T).value
    assert iteration.lower_bound().value == pytest.approx(expected, rel=1e-9)
    np.testing.assert_allclose(iteration.F, F, atol=1e-12)


def test_anchoring_restores_the_sums_where_a_small_eta2_loses_them():
    """A jumps with every change of C there. Close to the previous iterate its sums are right."""
    rng = np.random.default_rng(0)
    X = unit_norm(rng.standard_normal((200, 40)) @ rng.standard_normal((40, 100)))
    model = JointModel(X, 0.01, 0.01, 0.1)
    iteration = DouglasRachford(model)
    errors = []
    for _ in range(splitting.FIRST_ITERATIONS + 4):
        iteration.step()
        errors.append(np.abs(iteration.A.matrix(200).sum(axis=0) - 1.0).max())
        iteration.advance()
    first, *rest = errors[splitting.FIRST_ITERATIONS :]
    assert first > 0.5
    assert iteration.cost.anchoring > 0.0
    assert max(rest) < 0.1


def test_six_matrices_are_enough():
    """For few neighbours per point; longer lists of candidates need more."""
    X, _ = make_union_of_subspaces(
        1200, n_subspaces=24, dimension=6, n_features=700, noise=0.01, random_state=0
    )
    model = JointModel(unit_norm(X), 1.0, 0.2, 0.0)
    solve(model, max_iter=1)  # compiles
    tracemalloc.start()
    try:
        solve(model, tol=1e-12, max_iter=12)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    matrix = 8 * 1200**2
    assert peak <= 6.0 * matrix + 4 * 8 * BLOCK  # and a few rows at a time


def test_order_of_points_does_not_matter():
    model = random_model(3, (1.0, 0.3, 0.05), 30)
    order = np.random.default_rng(0).permutation(30)
    other = JointModel(np.ascontiguousarray(model.X[order]), 1.0, 0.3, 0.05)
    one, two = solve(model), solve(other)
    assert one.objective == pytest.approx(two.objective, rel=2e-6)
    difference = one.representation[np.ix_(order, order)] - two.representation
    assert np.abs(difference).max() < 1e-2


def test_single_precision_on_faces(data_home):
    X = unit_norm(fetch_orl(data_home=data_home, return_X_y=True)[0]).astype(np.float32)
    model = JointModel(X, 1.0, 0.1, 0.1)
    result = solve(model, tol=2e-5, max_iter=100)
    assert result.converged, result.status
    assert result.representation.dtype == np.float32
    double = JointModel(X.astype(np.float64), 1.0, 0.1, 0.1)
    certify(double, result, 2e-5)


@pytest.mark.slow
@pytest.mark.parametrize("fetch", [fetch_orl, fetch_umist])
@pytest.mark.parametrize("eta3", [0.0, 0.1])
def test_the_paper_s_grid_is_certified(fetch, eta3, data_home):
    X = np.ascontiguousarray(
        unit_norm(fetch(data_home=data_home, return_X_y=True)[0]), dtype=np.float64
    )
    for eta1 in (0.01, 0.25, 1.0, 25.0):
        for eta2 in (0.01, 0.05, 0.1, 0.2):
            result = solve_joint(X, eta1, eta2, eta3)
            assert result.gap <= 1e-6, (eta1, eta2, result.status)


@pytest.mark.parametrize("max_iter", [1, 5, 10, 15])
def test_the_last_checked_point_is_returned_when_iterations_run_out(max_iter):
    """Also after iterations in which rho may change, which allocates all matrices again."""
    model = random_model(2, (25.0, 0.05, 0.1), 60)
    result = solve(model, tol=1e-15, max_iter=max_iter)
    assert result.n_iter == max_iter
    assert not result.converged
    # The projection at the end can only lower the objective.
    assert result.objective <= result.history[-1] * (1 + 1e-9)
    certify(model, result, np.inf)


def test_the_weight_follows_the_gap_where_the_data_need_another_one():
    """Points of two planes in fifty dimensions: the first weight needs over 400 iterations."""
    X, _ = make_union_of_subspaces(
        90, n_subspaces=2, dimension=2, n_features=50, noise=0.02, random_state=1
    )
    model = JointModel(unit_norm(X), 0.4, 0.15, 0.0)
    result = solve(model, max_iter=250)
    certify(model, result, 1e-6)
