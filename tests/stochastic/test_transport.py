import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog, minimize

from dssc import project_doubly_stochastic, quadratic_transport
from tests.judge import EPS, as_dense


def certify(K, reg, a, b, result, tol=1e-8):
    """Assert optimality of a transport plan over all its entries, in extended precision."""
    K = as_dense(K).astype(np.longdouble)
    A = as_dense(result.plan).astype(np.longdouble)
    alpha, beta = (p.astype(np.longdouble) for p in result.potentials)
    unit = np.mean(a)
    assert np.all(A >= 0)
    assert np.abs(A.sum(axis=1) - a).max() <= tol * unit
    assert np.abs(A.sum(axis=0) - b).max() <= tol * unit
    slack = (K - alpha[:, None] - beta[None, :]) / reg
    terms = max(np.abs(K).max(), np.abs(alpha).max(), np.abs(beta).max())
    assert np.abs(np.maximum(slack, 0) - A).max() <= 8 * EPS * terms / reg + 1e-12 * unit


def marginals(rng, n, m, spread):
    a, b = np.exp(spread * rng.standard_normal(n)), np.exp(spread * rng.standard_normal(m))
    return a / a.sum(), b / b.sum()


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 30),
    st.integers(1, 30),
    st.floats(-4, 4),
    st.floats(0, 3),
    st.booleans(),
)
def test_every_plan_is_certified(seed, n, m, log_reg, spread, is_sparse):
    rng = np.random.default_rng(seed)
    K = rng.standard_normal((n, m))
    if is_sparse:
        K = sparse.csr_array(K * (rng.random((n, m)) < 0.3))
    a, b = marginals(rng, n, m, spread)
    reg = 10.0**log_reg * max(n, m)
    result = quadratic_transport(K, reg, a, b)
    assert result.converged, result.status
    certify(K, reg, a, b, result)


@pytest.mark.parametrize("shape", [(300, 500), (700, 300), (400, 400)])
@pytest.mark.parametrize("reg", [1e-2, 1.0, 1e3])
def test_rectangles_large_enough_for_an_active_set(shape, reg, rng):
    K = rng.random(shape)
    a, b = marginals(rng, *shape, 1.0)
    result = quadratic_transport(K, reg, a, b)
    assert result.converged, result.status
    certify(K, reg, a, b, result)


def test_agrees_with_a_general_solver(rng):
    K = rng.random((3, 4))
    a, b, reg = np.array([0.2, 0.3, 0.5]), np.array([0.1, 0.2, 0.3, 0.4]), 0.7
    constraints = [
        {"type": "eq", "fun": lambda x: x.reshape(3, 4).sum(axis=1) - a},
        {"type": "eq", "fun": lambda x: x.reshape(3, 4).sum(axis=0)[:-1] - b[:-1]},
    ]
    optimum = minimize(
        lambda x: -x @ K.ravel() + reg / 2 * x @ x,
        np.outer(a, b).ravel(),
        bounds=[(0, None)] * 12,
        constraints=constraints,
        options={"ftol": 1e-15, "maxiter": 1000},
    )
    plan = as_dense(quadratic_transport(K, reg, a, b).plan)
    np.testing.assert_allclose(plan, optimum.x.reshape(3, 4), atol=1e-6)


def test_little_regularisation_gives_the_linear_program(rng):
    K = rng.random((8, 11))
    a, b = marginals(rng, 8, 11, 0.5)
    rows = np.kron(np.eye(8), np.ones(11))
    columns = np.kron(np.ones(8), np.eye(11))
    program = linprog(-K.ravel(), A_eq=np.vstack([rows, columns]), b_eq=np.concatenate([a, b]))
    plan = as_dense(quadratic_transport(K, 1e-4, a, b).plan)
    assert np.sum(K * plan) == pytest.approx(-program.fun, rel=1e-6)


def test_unit_marginals_are_the_projection(rng):
    K = rng.random((50, 50))
    ones = np.ones(50)
    plan = quadratic_transport(K, 0.1, ones, ones).plan
    expected = project_doubly_stochastic(K, 0.1).plan
    np.testing.assert_array_equal(as_dense(plan), as_dense(expected))


def test_the_default_marginals_are_uniform(rng):
    plan = as_dense(quadratic_transport(rng.random((4, 6)), 1.0).plan)
    np.testing.assert_allclose(plan.sum(axis=1), 1 / 4, atol=1e-9)
    np.testing.assert_allclose(plan.sum(axis=0), 1 / 6, atol=1e-9)


def test_equal_marginals_of_a_symmetric_problem_give_a_symmetric_plan(rng):
    K = rng.random((30, 30))
    a = rng.random(30)
    result = quadratic_transport(K + K.T, 0.3, a, a)
    plan = as_dense(result.plan)
    np.testing.assert_array_equal(plan, plan.T)
    certify(K + K.T, 0.3, a, a, result)
    b = a[::-1]
    certify(K + K.T, 0.3, a, b, quadratic_transport(K + K.T, 0.3, a, b))


@pytest.mark.parametrize("scale", [1e-307, 1e-200, 1e200, 1e306])
def test_marginals_of_any_scale_give_the_plan_in_that_scale(scale, rng):
    K = rng.random((6, 5))
    a, b = marginals(rng, 6, 5, 0.5)
    expected = as_dense(quadratic_transport(K, 0.3, a, b).plan)
    result = quadratic_transport(K, 0.3 / scale, scale * a, scale * b)
    assert result.converged, result.status
    np.testing.assert_allclose(as_dense(result.plan) / scale, expected, atol=1e-9)


@pytest.mark.parametrize("reg", [1e200, 1e307])
def test_huge_regularisation_gives_the_plan_of_no_similarities(reg, rng):
    a, b = marginals(rng, 6, 5, 0.1)
    nearest = a[:, None] / 5 + b[None, :] / 6 - 1 / 30  # to zero, and positive here
    result = quadratic_transport(rng.random((6, 5)), reg, a, b)
    assert result.converged, result.status
    np.testing.assert_allclose(as_dense(result.plan), nearest, atol=1e-9)


def test_a_warm_start_is_used(rng):
    K = rng.random((20, 30))
    cold = quadratic_transport(K, 0.5)
    assert quadratic_transport(K, 0.5, potentials=cold.potentials).n_iter == 0


def random_support(rng, n, m, density):
    pattern = sparse.random_array((n, m), density=density, random_state=rng, format="csr")
    return sparse.csr_array(pattern + sparse.eye_array(n, m))


@pytest.mark.parametrize("symmetric", [True, False])
def test_a_restricted_plan_is_optimal_on_its_pattern(symmetric, rng):
    support = random_support(rng, 60, 60, 0.1)
    K = rng.random((60, 60))
    if symmetric:
        K, support = K + K.T, support + support.T
    result = project_doubly_stochastic(K, 0.2, support=support)
    A = as_dense(result.plan)
    held = support.toarray() != 0
    assert result.converged
    assert not A[~held].any()
    np.testing.assert_allclose(A.sum(axis=0), 1, atol=1e-8)
    np.testing.assert_allclose(A.sum(axis=1), 1, atol=1e-8)
    alpha, beta = result.potentials
    slack = (K - alpha[:, None] - beta[None, :]) / 0.2
    np.testing.assert_allclose(A[held], np.maximum(slack, 0)[held], atol=1e-9)


def test_the_full_pattern_changes_nothing(rng):
    K = rng.random((40, 40))
    full = as_dense(project_doubly_stochastic(K, 0.1, support=np.ones((40, 40))).plan)
    np.testing.assert_allclose(full, as_dense(project_doubly_stochastic(K, 0.1).plan), atol=1e-8)


def test_a_pattern_without_a_permutation_is_refused():
    """The appendix's hub and spoke: many rows share too few columns."""
    n, k = 12, 4
    support = np.zeros((n, n))
    support[: n - k, n - k :] = support[n - k :, : n - k] = 1
    support[n - k :, n - k :] = 1 - np.eye(k)
    with pytest.raises(ValueError, match=r"infeasible: 4 rows, row \d+ among them"):
        project_doubly_stochastic(np.ones((n, n)), 1.0, support=support)


def test_a_pattern_that_leaves_one_plan_gives_it(rng):
    """Below the diagonal everything is forbidden, so above it everything must be zero."""
    support = np.triu(np.ones((60, 60)))
    result = project_doubly_stochastic(rng.random((60, 60)), 0.1, support=support)
    assert result.converged, result.status
    np.testing.assert_allclose(as_dense(result.plan), np.eye(60), atol=1e-7)


def test_an_empty_row_of_a_pattern_is_named():
    support = np.eye(5)
    support[3] = 0
    with pytest.raises(ValueError, match=r"row 3 among them"):
        project_doubly_stochastic(np.ones((5, 5)), 1.0, support=support)


def test_a_pattern_that_cannot_carry_the_marginals_is_refused(rng):
    K = rng.random((3, 2))
    support = np.array([[1, 0], [1, 0], [1, 1]])
    with pytest.raises(ValueError, match=r"2 rows, row 0 among them, have more mass"):
        quadratic_transport(K, 1.0, [0.4, 0.4, 0.2], [0.5, 0.5], support=support)
    a, b = np.array([0.2, 0.2, 0.6]), np.array([0.5, 0.5])
    result = quadratic_transport(K, 1.0, a, b, support=support)
    assert result.converged
    plan = as_dense(result.plan)
    assert not plan[support == 0].any()
    np.testing.assert_allclose(plan.sum(axis=1), a, atol=1e-8)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"a": [0.5, 0.4]}, r"infeasible: a sums to 0\.9 and b to 1\.0"),
        ({"a": [1.0, 0.0]}, r"a\[1\] = 0\.0 must be positive"),
        ({"b": [0.5, 0.5]}, "b must have length 3"),
        ({"b": [0.5, np.nan, 0.2]}, r"b\[1\] = nan"),
        ({"reg": 0.0}, r"reg=0\.0"),
        ({"K": np.ones((2, 2, 2))}, r"shape is \(2, 2, 2\)"),
        ({"support": np.ones((3, 2))}, r"support has shape \(3, 2\) but K has shape \(2, 3\)"),
        ({"potentials": (np.zeros(3), np.zeros(2))}, "lengths 2 and 3"),
        ({"a": [1e308] * 2, "b": [6e307] * 3}, r"a sums to inf and .* multiply reg by it"),
        ({"a": [1e200, 1e-200], "b": [1e200, 1, 1]}, r"a\[1\] = 1e-200 is nothing beside"),
        ({"reg": 1e200, "a": [3e200] * 2, "b": [2e200] * 3}, r"reg=1e\+200 times .* is inf"),
        ({"reg": 1e-200, "a": [3e-200] * 2, "b": [2e-200] * 3}, r"reg=1e-200 .* is 0\.0 in"),
    ],
)
def test_bad_input_is_explained(change, message):
    good = {"K": np.ones((2, 3)), "reg": 1.0, "a": [0.5, 0.5], "b": [0.3, 0.3, 0.4]}
    with pytest.raises(ValueError, match=message):
        quadratic_transport(**{**good, **change})
