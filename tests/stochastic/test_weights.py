"""Points with weights: a point of weight m counts as m copies of it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from dssc.expression import LeastSquaresFactor
from dssc.stochastic import FactoredSimilarity, ProjectionProblem
from dssc.stochastic.dual import GraphDual, WeightedGraphDual
from dssc.stochastic.interior_point import central_potentials
from dssc.stochastic.newton import solve_dual
from dssc.stochastic.support import Graph
from tests.judge import as_dense, certify


def similarities(rng, n, symmetric=True):
    K = rng.standard_normal((n, n)) ** 2
    K = (K + K.T) / 2 if symmetric else K
    np.fill_diagonal(K, 0.0)
    return K


def replicated(K, counts, eta2):
    """Return the sums over copies of the plan of replicated points, over the mean number."""
    of_copy = np.repeat(np.arange(len(K)), counts)
    members = np.zeros((len(K), len(of_copy)))
    members[of_copy, np.arange(len(of_copy))] = 1.0
    result = ProjectionProblem.of_matrix(K[np.ix_(of_copy, of_copy)]).solve(eta2, tol=1e-11)
    assert result.converged
    return members @ as_dense(result.plan) @ members.T / counts.mean()


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("eta2", [0.02, 0.5, 20.0])
def test_integer_weights_are_copies(symmetric, eta2, rng):
    K, counts = similarities(rng, 30, symmetric), rng.integers(1, 6, 30)
    weights = counts / counts.mean()
    problem = ProjectionProblem.of_matrix(K, weights=weights)
    result = problem.solve(eta2 / counts.mean(), tol=1e-11)
    assert result.converged, result.status
    np.testing.assert_allclose(as_dense(result.plan), replicated(K, counts, eta2), atol=1e-9)


@pytest.mark.parametrize("symmetric", [True, False])
def test_the_plan_of_all_copies_is_certified_independently(symmetric, rng):
    K, counts = similarities(rng, 40, symmetric), rng.integers(1, 5, 40)
    weights, mean = counts / counts.mean(), counts.mean()
    result = ProjectionProblem.of_matrix(K, weights=weights).solve(0.3)
    at = np.ix_(*[np.repeat(np.arange(40), counts)] * 2)
    of_copies = (as_dense(result.plan) / np.outer(weights, weights) / mean)[at]
    potentials = tuple(np.repeat(p, counts) for p in result.potentials)
    copies = replace(result, plan=of_copies, potentials=potentials)
    certify(K[at], 0.3 * mean, copies)


def test_a_pattern_and_a_sparse_matrix_take_weights(rng):
    K = similarities(rng, 50)
    K[K < 1.0] = 0.0
    graph, weights = sparse.csr_array(K), rng.uniform(0.2, 2.0, 50)
    weights /= weights.mean()
    pattern = sparse.csr_array((graph + sparse.eye_array(50)) != 0)
    result = ProjectionProblem.of_matrix(graph, support=pattern, weights=weights).solve(0.4)
    assert result.converged
    assert np.all(pattern.toarray()[as_dense(result.plan) > 0])
    np.testing.assert_allclose(as_dense(result.plan).sum(axis=1), weights, rtol=1e-7)
    free = ProjectionProblem.of_matrix(graph, weights=weights).solve(0.4)
    dense = ProjectionProblem.of_matrix(K, weights=weights).solve(0.4)
    np.testing.assert_allclose(as_dense(free.plan), as_dense(dense.plan), atol=1e-7)


@pytest.mark.parametrize("symmetric", [True, False])
def test_the_search_of_products_finds_the_same_plan(symmetric, rng):
    X, weights = rng.standard_normal((400, 8)), rng.exponential(size=400) + 0.05
    weights /= weights.mean()
    factor = LeastSquaresFactor(X, 0.5, weights=weights)
    K = FactoredSimilarity(factor, symmetric, copies=weights)
    places = np.indices((400, 400)).reshape(2, -1)
    dense = K.at(*places).reshape(400, 400)
    eta2 = 0.05
    searched = ProjectionProblem(K, weights=weights)
    expected = ProjectionProblem.of_matrix(dense, weights=weights).solve(eta2, tol=1e-10)
    for _ in range(2):  # again from the support and the potentials that were found
        result = searched.solve(eta2, tol=1e-10)
        assert result.converged
        np.testing.assert_allclose(as_dense(result.plan), as_dense(expected.plan), atol=1e-8)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 40),
    symmetric=st.booleans(),
    log_eta2=st.floats(-3, 3),
    decades=st.floats(0, 4),
)
def test_any_weights_give_a_certified_plan(seed, n, symmetric, log_eta2, decades):
    rng = np.random.default_rng(seed)
    K, weights = similarities(rng, n, symmetric), 10.0 ** rng.uniform(-decades, decades, n)
    weights, eta2 = weights / weights.mean(), 10.0**log_eta2
    result = ProjectionProblem.of_matrix(K, weights=weights).solve(eta2)
    assert result.converged, result.status
    # Everything again in extended precision, over all pairs.
    B = as_dense(result.plan).astype(np.longdouble)
    w = weights.astype(np.longdouble)
    for axis in (0, 1):
        assert np.abs(B.sum(axis=axis) / w - 1).max() <= 1e-8
    alpha, beta = result.potentials
    slack = (K.astype(np.longdouble) - alpha[:, None] - beta[None, :]) / eta2
    copies = np.outer(w, w)
    rounding = 16 * np.finfo(float).eps * max(np.abs(K).max(), np.abs(alpha).max()) / eta2
    assert np.abs(B / copies - np.maximum(slack, 0)).max() <= rounding + 1e-12
    dual = np.sum(copies * np.maximum(slack, 0) ** 2) / 2
    primal = np.sum(slack * B) - np.sum(B**2 / copies) / 2
    # For exact sums both are equal; sums within 1e-8 change them by potentials times 1e-8.
    assert abs(dual - primal) <= 1e-6 * np.sum(B**2 / copies) + 1e-6


def test_scaling_the_weights_scales_eta2(rng):
    K, weights = similarities(rng, 30), rng.uniform(0.5, 2.0, 30)
    one = ProjectionProblem.of_matrix(K, weights=weights).solve(0.6, tol=1e-11)
    three = ProjectionProblem.of_matrix(K, weights=3 * weights).solve(1.8, tol=1e-11)
    np.testing.assert_allclose(as_dense(three.plan), 3 * as_dense(one.plan), atol=1e-9)


def test_weights_of_one_change_nothing(rng):
    K = similarities(rng, 60)
    plain = ProjectionProblem.of_matrix(K).solve(0.2, tol=1e-11)
    ones = ProjectionProblem.of_matrix(K, weights=np.ones(60)).solve(0.2, tol=1e-11)
    np.testing.assert_allclose(as_dense(ones.plan), as_dense(plain.plan), atol=1e-10)


def test_a_wrong_plan_is_not_certified(rng):
    K, weights = similarities(rng, 30), rng.uniform(0.5, 2.0, 30)
    weights /= weights.mean()
    result = ProjectionProblem.of_matrix(K, weights=weights).solve(0.2, max_iter=1)
    assert not result.converged
    assert max(result.marginal_error, result.gap) > 1e-8


def weighted_dual(rng, n=50):
    K = similarities(rng, n)
    indptr = np.arange(0, n * n + 1, n)
    graph = Graph(indptr, np.tile(np.arange(n, dtype=np.int32), n), K.ravel())
    weights = rng.exponential(size=n) + 0.01
    return WeightedGraphDual(graph, np.ones(n), weights)


def test_the_interior_point_method_takes_weights(rng):
    dual = weighted_dual(rng)
    expected = solve_dual(dual, 0.2, None, 1e-11, 1000)
    assert expected.error <= 1e-11
    scaled = dual.graph._replace(values=dual.graph.values / 0.2)
    w, _ = central_potentials(scaled, dual.targets, dual.vertex_weights, np.zeros(50), 1e-10, 200)
    np.testing.assert_allclose(0.2 * w, expected.potentials, atol=1e-6)


def test_newtons_direction_solves_the_weighted_system(rng):
    dual = weighted_dual(rng)
    point = dual.at(rng.uniform(-0.5, 0.5, 50))
    z = dual.graph.values.reshape(50, 50) - point.potentials[:, None] - point.potentials
    p, S = dual.weights, (z > 0).astype(float)
    np.testing.assert_allclose(point.sums, np.maximum(z, 0) @ p)
    hessian = np.diag(p * (S @ p)) + p[:, None] * S * p
    residual = rng.standard_normal(50)
    expected = np.linalg.solve(hessian + 1e-9 * np.diag(p * (S @ p)), p * residual)
    diagonal = dual.diagonal(point) * (1 + 1e-9)
    for x in (
        dual.factorised_solve(point, diagonal, residual),
        dual.conjugate_gradients(point, diagonal, residual, 1e-13, 5000).x,
    ):
        np.testing.assert_allclose(x, expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(GraphDual(dual.graph, dual.targets).vertex_weights, np.ones(50))


def test_a_row_without_positive_slacks_has_a_positive_diagonal(rng):
    dual = weighted_dual(rng)
    point = dual.at(np.full(50, 1e3))
    assert np.all(point.counts == 0)
    assert np.all(dual.diagonal(point) > 0)
