import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from dssc.joint import JointModel
from dssc.joint.outcome import relative_gap
from tests.joint.reference import (
    PARAMETERS,
    dual_value,
    objective,
    random_model,
    solve_by_cvxpy,
)


def random_plan(rng, n):
    return sum(w * np.eye(n)[rng.permutation(n)] for w in rng.dirichlet(np.ones(3)))


@given(seed=st.integers(0, 10_000), parameters=st.sampled_from(PARAMETERS))
def test_objective_is_the_paper_s_at_the_best_splitting(seed, parameters):
    model = random_model(seed, parameters)
    rng = np.random.default_rng(seed)
    C = rng.standard_normal((14, 14)) * rng.choice([0.01, 0.3])
    np.fill_diagonal(C, 0)
    A = random_plan(rng, 14)
    value = model.objective(C, sparse.csr_array(A))
    W = model.best_W(C, sparse.csr_array(A))
    assert np.all(np.diag(W) == 0)
    assert value == pytest.approx(objective(model, (W + C) / 2, (W - C) / 2, A), rel=1e-12)
    for wider in (np.abs(C), np.abs(C) + 0.1 * rng.random((14, 14))):
        np.fill_diagonal(wider, 0)
        other = objective(model, (wider + C) / 2, (wider - C) / 2, A)
        assert value <= other * (1 + 1e-12)


@given(seed=st.integers(0, 10_000), parameters=st.sampled_from(PARAMETERS))
def test_weak_duality_at_arbitrary_points(seed, parameters):
    model = random_model(seed, parameters)
    rng = np.random.default_rng(seed)
    C = 0.3 * rng.standard_normal((14, 14))
    np.fill_diagonal(C, 0)
    np.testing.assert_allclose(model.fit_products(C), model.products(model.residual(C)), rtol=1e-12)
    L = rng.choice([0.1, 1.0]) * rng.standard_normal(model.X.shape)
    start = rng.standard_normal((2, 14))
    bound, share, (a, b) = model.lower_bound(model.products(L), start, L @ model.X.T)
    assert bound <= model.objective(C, sparse.csr_array(random_plan(rng, 14)))
    assert dual_value(model, share * L, a, b) == pytest.approx(bound, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_the_dual_meets_the_optimum_of_a_general_solver(seed):
    model = random_model(seed, PARAMETERS[seed])
    optimum, C_p, C_q, A = solve_by_cvxpy(model)
    C = C_p - C_q
    np.fill_diagonal(C, 0)
    projection = model.project(model.best_W(C, sparse.csr_array(np.maximum(A, 0))))
    dual = model.lower_bound_at(C, projection.potentials).value
    assert dual <= optimum + 1e-7 * max(1, optimum)
    assert relative_gap(optimum, dual) <= 2e-3


@pytest.mark.parametrize("seed", range(10))
def test_proposition_1_on_a_general_solver_s_raw_splitting(seed):
    model = random_model(seed, PARAMETERS[seed])
    _, C_p, C_q, _ = solve_by_cvxpy(model)
    overlap = np.minimum(C_p, C_q)
    both = overlap > 1e-4
    bound = (model.eta1 * model.eta2 - model.eta3) / model.eta1
    if model.eta1 * model.eta2 <= model.eta3:
        assert not both.any()
    else:
        assert np.all(np.maximum(C_p, C_q)[both] < bound)


def test_proposition_1_is_not_vacuous():
    """Supports do overlap for a generous eta2, and A-free parameters keep them apart."""
    X = random_model(0, PARAMETERS[0]).X
    _, C_p, C_q, _ = solve_by_cvxpy(JointModel(X, 1.0, 3.0, 0.0))
    assert np.count_nonzero(np.minimum(C_p, C_q) > 1e-3) > 0
