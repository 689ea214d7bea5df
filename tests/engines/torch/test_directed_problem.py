import numpy as np
import pytest
from scipy import sparse

from dssc.engines.torch import directed_problem, directed_search, projection_problem
from dssc.engines.torch.directed_problem import DirectedProjectionProblem
from dssc.stochastic import ProjectionProblem
from dssc.stochastic.factored_similarity import ListLength
from tests.engines.torch.examples import QUIET, exact_vectors, points
from tests.judge import certify


def problem_of(X, where, eta1=0.5, signed=False):
    return DirectedProjectionProblem(X, eta1, signed, where, QUIET)


def similarities(problem):
    """Return K in the order of the samples, from the factor's float64 vectors."""
    place = problem.factor.place.cpu().numpy()
    F = exact_vectors(problem.factor).cpu().numpy()[place]
    C = problem.factor.scales.cpu().numpy()[place, None] * (F @ F.T)
    K = np.maximum(C, 0.0) if problem.bounds.signed else np.abs(C)
    np.fill_diagonal(K, 0.0)
    return K


def as_dense(plan):
    return plan.toarray() if sparse.issparse(plan) else plan


@pytest.mark.parametrize("eta2", [1e-3, 0.05, 3.0])
@pytest.mark.parametrize("is_sampled", [False, True])
@pytest.mark.parametrize(("eta1", "signed"), [(0.5, False), (0.5, True), (np.inf, True)])
def test_the_projection_is_the_one_of_the_whole_matrix(
    eta2, is_sampled, eta1, signed, where, rng, monkeypatch
):
    if is_sampled:  # thresholds from some of the points, and several tiles
        monkeypatch.setattr(directed_search, "RANK", 2)
        monkeypatch.setattr(directed_search, "TILE_ENTRIES", 20_000)
    problem = problem_of(points(rng, n=600), where, eta1, signed)
    K = similarities(problem)
    result = problem.solve(eta2)
    assert result.converged, result.status
    certify(K, eta2, result)
    whole = ProjectionProblem.of_matrix(K).solve(eta2)
    np.testing.assert_allclose(as_dense(result.plan), as_dense(whole.plan), atol=1e-8)


def test_potentials_that_fall_below_the_filter_make_it_run_again(where, rng, monkeypatch):
    monkeypatch.setattr(directed_problem, "MARGIN", 1e-6)
    monkeypatch.setattr(projection_problem, "ROUGH_PAIRS", ListLength(0.0, 3, 0))
    problem = problem_of(points(rng, n=400), where)
    result = problem.solve(0.2)
    assert result.n_rescanned > 0
    assert result.converged, result.status
    certify(similarities(problem), 0.2, result)


def test_too_few_filters_are_no_proof(where, rng, monkeypatch):
    monkeypatch.setattr(directed_problem, "MARGIN", 1e-6)
    monkeypatch.setattr(directed_problem, "MOST_PASSES", 1)
    monkeypatch.setattr(projection_problem, "ROUGH_PAIRS", ListLength(0.0, 3, 0))
    result = problem_of(points(rng, n=400), where).solve(0.2)
    assert not result.converged
    assert "not converged" in result.status


def test_earlier_potentials_are_a_start_whatever_constant_they_share(where, rng):
    problem = problem_of(points(rng, n=400), where)
    first = problem.solve(0.05)
    alpha, beta = first.potentials
    again = problem.solve(0.05, potentials=(alpha + 7.0, beta - 7.0))
    assert again.converged
    assert again.n_rescanned == 0
    np.testing.assert_allclose(as_dense(again.plan), as_dense(first.plan), atol=1e-8)


def test_a_matrix_without_symmetry_has_no_near_pairs(where, rng):
    problem = problem_of(points(rng, n=100), where)
    with pytest.raises(NotImplementedError, match="symmetric"):
        problem.near_pairs(problem.solve(0.05))
