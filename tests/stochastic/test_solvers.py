"""Every solver against the default one, and each one's own stopping rule and honesty."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from dssc import project_doubly_stochastic
from dssc.stochastic.marginal_correction import correction
from tests.judge import KINDS, as_dense, certify, dykstra, random_problem

EXACT = ["active-set", "lbfgs", "admm"]


@settings(max_examples=15)
@given(
    st.integers(0, 2**32 - 1), st.sampled_from(sorted(KINDS)), st.integers(1, 25), st.floats(-1, 2)
)
@pytest.mark.parametrize("solver", EXACT)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_exact_solvers_agree_with_newton(solver, seed, kind, n, log_eta):
    K = random_problem(np.random.default_rng(seed), kind, n)
    eta2 = 10.0**log_eta * (np.abs(as_dense(K)).max() or 1.0)
    expected = as_dense(project_doubly_stochastic(K, eta2).plan)
    result = project_doubly_stochastic(K, eta2, solver=solver, tol=1e-6)
    assert result.converged, result.status
    if solver != "admm":  # whose plan is not made of its potentials
        certify(K, eta2, result, tol=1e-6)
    np.testing.assert_allclose(as_dense(result.plan), expected, atol=2e-5)


@pytest.mark.parametrize("solver", EXACT)
def test_a_larger_problem_where_the_support_matters(solver, rng):
    K = rng.random((300, 300))
    result = project_doubly_stochastic(K, 0.5, solver=solver, tol=1e-5)
    assert result.converged, result.status
    expected = as_dense(project_doubly_stochastic(K, 0.5).plan)
    np.testing.assert_allclose(as_dense(result.plan), expected, atol=1e-4)
    assert 0 < result.n_iter <= 5000
    assert result.n_evaluations >= result.n_iter


def test_alternating_projections_end_feasible_but_not_nearest(rng):
    K = rng.random((20, 20))
    with pytest.warns(ConvergenceWarning, match="need not end at the nearest"):
        result = project_doubly_stochastic(K, 0.05, solver="alternating", tol=1e-6)
    assert result.marginal_error <= 1e-6
    assert result.gap > 1e-3
    nearest = dykstra(K / 0.05)
    assert np.linalg.norm(as_dense(result.plan) - nearest) > 0.01
    np.testing.assert_allclose(
        as_dense(project_doubly_stochastic(K, 0.05).plan), nearest, atol=1e-6
    )


def test_alternating_projections_are_right_where_one_projection_is_enough(rng):
    K = rng.random((10, 10))
    result = project_doubly_stochastic(K, 100.0, solver="alternating")
    assert result.converged
    certify(K, 100.0, result)


@pytest.mark.parametrize("solver", [*EXACT, "alternating"])
def test_too_few_iterations_are_reported(solver, rng):
    with pytest.warns(ConvergenceWarning, match="not converged"):
        result = project_doubly_stochastic(rng.random((60, 60)), 0.01, solver=solver, max_iter=3)
    assert result.n_iter <= 3
    assert not result.converged


@pytest.mark.parametrize("solver", ["active-set", "lbfgs"])
def test_dual_solvers_take_a_warm_start(solver, rng):
    K = rng.random((80, 80))
    start = project_doubly_stochastic(K, 0.5).potentials
    warm = project_doubly_stochastic(K, 0.5, solver=solver, tol=1e-7, potentials=start)
    assert warm.n_iter == 0
    assert warm.converged


@pytest.mark.parametrize("solver", EXACT)
def test_sparse_input_works_everywhere(solver, rng):
    K = sparse.random_array((40, 40), density=0.2, random_state=rng, format="csr")
    result = project_doubly_stochastic(K, 1.0, solver=solver, tol=1e-5)
    np.testing.assert_allclose(
        as_dense(result.plan), as_dense(project_doubly_stochastic(K, 1.0).plan), atol=1e-4
    )


def test_the_affine_correction_is_the_projection_on_the_marginals(rng):
    X = rng.standard_normal((9, 9))
    rows, columns = correction(X)
    projected = X + rows[:, None] + columns[None, :]
    np.testing.assert_allclose(projected.sum(axis=0), 1)
    np.testing.assert_allclose(projected.sum(axis=1), 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"solver": "magic"}, r"solver='magic' must be one of 'newton', 'active-set'"),
        ({"solver": "admm", "support": np.eye(2)}, "support is for solver='newton' only"),
        ({"solver": "admm", "max_iter": 0}, "max_iter=0"),
    ],
)
def test_bad_options_are_explained(options, message):
    with pytest.raises(ValueError, match=message):
        project_doubly_stochastic(np.eye(2), 1.0, **options)


@pytest.mark.parametrize(("scale", "offset"), [(1e-9, 0.0), (1.0, 1e9), (1e9, 0.0), (1e-250, 0.0)])
@pytest.mark.parametrize("solver", ["newton", *EXACT, "alternating"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_what_a_solver_claims_does_not_depend_on_scale_and_offset(solver, scale, offset):
    K = np.random.default_rng(0).random((20, 20))
    nearest = dykstra(K / 0.1)
    result = project_doubly_stochastic(scale * K + offset, 0.1 * scale, solver=solver, tol=1e-6)
    distance = np.linalg.norm(as_dense(result.plan) - nearest)
    # Half the squared distance is at most the gap in units of eta2 |A|^2.
    assert distance**2 / 2 <= 1.1 * result.gap * np.linalg.norm(nearest) ** 2 + 1e-9
    assert result.converged == (solver != "alternating")


@pytest.mark.parametrize("solver", ["newton", *EXACT])
def test_potentials_too_small_for_their_digits_are_not_certified(solver, rng):
    K = 1e-320 * rng.random((8, 8))
    with pytest.warns(ConvergenceWarning, match=r"subnormal .* multiply K and eta2 by the same"):
        result = project_doubly_stochastic(K, 1e-321, solver=solver)
    assert not result.converged
