import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings

from dssc import fetch_orl, fetch_umist, make_union_of_subspaces, unit_norm
from dssc.joint import JointModel, solve_joint, splitting
from dssc.joint.dense import DenseEngine
from dssc.joint.model import BLOCK
from tests.joint.reference import PARAMETERS, SMALL_PROBLEMS, certify, random_model, solve_by_cvxpy


def solve(model, tol=1e-6, max_iter=400):
    return splitting.solve(model, DenseEngine(model), tol=tol, max_iter=max_iter)


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


@pytest.mark.parametrize("d", [5, 40])  # both forms of the fit's proximal step
def test_the_fit_s_proximal_step_by_its_definition(d, rng):
    X = unit_norm(rng.standard_normal((30, d)))
    model = JointModel(X, 1.0, 0.5, 0.0)
    engine = DenseEngine(model)
    engine.weigh(0.7)
    z, engine.Y[:] = rng.standard_normal((2, 30, 30))
    Y = engine.Y.copy()
    engine.fit.step(z, engine.Y, engine.F)
    np.testing.assert_allclose(engine.Y, Y, atol=1e-12)
    C = engine.F
    slope = (C @ X - X) @ X.T + 0.7 * (C - (2 * Y - z))
    np.testing.assert_allclose(slope, 0.0, atol=1e-10)


def test_the_lower_bound_is_the_model_s_and_leaves_the_iterate_alone(rng):
    model = random_model(2, (1.0, 0.3, 0.05), 30)
    search = splitting._Search(model, DenseEngine(model))
    for _ in range(15):
        search.step()
        search.advance()
    search.step()
    F = search.F.copy()
    C = F / 1.6 + search.engine.Y
    R = model.residual(C)
    expected, _ = model.lower_bound(model.products(R), search.potentials, R @ model.X.T)
    found, _ = search.engine.lower_bound(search.z, search.potentials)
    assert found == pytest.approx(expected, rel=1e-9)
    np.testing.assert_allclose(search.F, F, atol=1e-12)


def test_sums_are_found_again_where_a_small_eta2_loses_them():
    """A jumps with every change of C there; once it clings to the last one its sums are right."""
    rng = np.random.default_rng(0)
    X = unit_norm(rng.standard_normal((200, 40)) @ rng.standard_normal((40, 100)))
    model = JointModel(X, 0.01, 0.01, 0.1)
    search = splitting._Search(model, DenseEngine(model))
    errors = []
    for _ in range(splitting.FIRST_ITERATIONS + 4):
        search.step()
        errors.append(np.abs(search.A.matrix(200).sum(axis=0) - 1.0).max())
        search.advance()
    first, *rest = errors[splitting.FIRST_ITERATIONS :]
    assert first > 0.5
    assert search.cost.clinging > 0.0
    assert max(rest) < 0.1


def test_six_matrices_are_enough():
    """Where A has few neighbours a point; lists of many would come on top."""
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


def test_candidates_by_a_plain_comparison(rng):
    model = random_model(1, (1.0, 0.3, 0.05), 30)
    z = rng.standard_normal((30, 30))
    rows, columns = -rng.random((2, 30))
    columns[3] = 1.5
    keys = DenseEngine(model).candidates(z, rows, columns, 0.9)
    p = rows[:, None] + columns
    expected = np.flatnonzero((np.abs(z) + p > 0.9) | (p > 0) | np.eye(30, dtype=bool))
    np.testing.assert_array_equal(keys, expected)


def test_order_of_points_does_not_matter():
    model = random_model(3, (1.0, 0.3, 0.05), 30)
    order = np.random.default_rng(0).permutation(30)
    other = JointModel(np.ascontiguousarray(model.X[order]), 1.0, 0.3, 0.05)
    one, two = solve(model), solve(other)
    assert one.objective == pytest.approx(two.objective, rel=2e-6)
    difference = one.representation[np.ix_(order, order)] - two.representation
    assert np.abs(difference).max() < 1e-2


def test_single_precision_on_faces():
    X = unit_norm(fetch_orl(return_X_y=True)[0]).astype(np.float32)
    model = JointModel(X, 1.0, 0.1, 0.1)
    result = solve(model, tol=2e-5, max_iter=100)
    assert result.converged, result.status
    assert result.representation.dtype == np.float32
    double = JointModel(X.astype(np.float64), 1.0, 0.1, 0.1)
    certify(double, result, 2e-5)


@pytest.mark.slow
@pytest.mark.parametrize("fetch", [fetch_orl, fetch_umist])
@pytest.mark.parametrize("eta3", [0.0, 0.1])
def test_the_paper_s_grid_is_certified(fetch, eta3):
    X = np.ascontiguousarray(unit_norm(fetch(return_X_y=True)[0]), dtype=np.float64)
    for eta1 in (0.01, 0.25, 1.0, 25.0):
        for eta2 in (0.01, 0.05, 0.1, 0.2):
            result = solve_joint(X, eta1, eta2, eta3)
            assert result.gap <= 1e-6, (eta1, eta2, result.status)


@pytest.mark.parametrize("max_iter", [1, 5, 10, 15])
def test_what_was_judged_last_is_returned_when_iterations_run_out(max_iter):
    """Also where rho would have changed then, which makes all matrices anew."""
    model = random_model(2, (25.0, 0.05, 0.1), 60)
    result = solve(model, tol=1e-15, max_iter=max_iter)
    assert result.n_iter == max_iter
    assert not result.converged
    # The projection at the end can only lower the objective.
    assert result.objective <= result.history[-1] * (1 + 1e-9)
    certify(model, result, np.inf)


def test_the_weight_follows_the_pace_where_the_data_ask_for_another():
    """Points of two planes in fifty dimensions: 400 iterations do not do with the first weight."""
    X, _ = make_union_of_subspaces(
        90, n_subspaces=2, dimension=2, n_features=50, noise=0.02, random_state=1
    )
    model = JointModel(unit_norm(X), 0.4, 0.15, 0.0)
    result = solve(model, max_iter=250)
    certify(model, result, 1e-6)
