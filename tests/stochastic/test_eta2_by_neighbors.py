import numpy as np
import pytest
from scipy import sparse

from dssc import least_squares_representation, make_union_of_subspaces
from dssc.stochastic import ProjectionProblem, project_to_neighbors
from dssc.stochastic.eta2_by_neighbors import mean_neighbors
from tests.judge import certify


def similarity(scale, random_state=0):
    X, _ = make_union_of_subspaces(200, noise=0.1, random_state=random_state)
    C = np.abs(least_squares_representation(X, 1.0))
    return scale * (C + C.T)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("n_neighbors", [3, 12, 50])
def test_the_count_is_met_whatever_the_scale(scale, n_neighbors):
    K = similarity(scale)
    result = project_to_neighbors(ProjectionProblem.of_matrix(K), n_neighbors)
    assert mean_neighbors(result.plan) == pytest.approx(n_neighbors, rel=0.02)
    assert result.converged
    certify(K, result.eta2, result)


def test_a_sparse_similarity_works_too():
    K = similarity(1.0)
    K = sparse.csr_array(K * (np.quantile(K, 0.9) < K))
    result = project_to_neighbors(ProjectionProblem.of_matrix(K), 6)
    assert mean_neighbors(result.plan) == pytest.approx(6, rel=0.02)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_all_others_are_neighbours_of_a_point_in_a_small_problem(n, rng):
    K = rng.random((n, n))
    result = project_to_neighbors(ProjectionProblem.of_matrix(K + K.T), n - 1)
    assert mean_neighbors(result.plan) == pytest.approx(n - 1, rel=0.02)


def test_a_count_that_jumps_ends_at_a_near_one():
    blocks = np.kron(np.eye(5), np.ones((8, 8)))
    np.fill_diagonal(blocks, 0.0)
    result = project_to_neighbors(ProjectionProblem.of_matrix(blocks), 3)
    assert mean_neighbors(result.plan) == 7


def test_no_similarity_at_all_ends():
    result = project_to_neighbors(ProjectionProblem.of_matrix(np.zeros((30, 30))), 12)
    np.testing.assert_allclose(result.plan, 1 / 30)


def test_neighbours_do_not_count_the_diagonal():
    assert mean_neighbors(np.eye(4)) == 0
    assert mean_neighbors(sparse.csr_array(np.full((4, 4), 0.25))) == 3


class Counted(ProjectionProblem):
    """A problem that counts its solutions."""

    n_solved = 0

    def solve(self, *args, **options):
        self.n_solved += 1
        return super().solve(*args, **options)


def test_few_values_of_eta2_are_tried():
    n_solved = []
    for n_neighbors in (5, 8, 12, 20, 40):
        problem = Counted.of_matrix(similarity(1.0))
        project_to_neighbors(problem, n_neighbors)
        n_solved.append(problem.n_solved)
    assert np.mean(n_solved) <= 3


def test_the_search_begins_with_a_projection_that_is_known():
    problem = Counted.of_matrix(similarity(1.0))
    near = project_to_neighbors(problem, 8)
    problem.n_solved = 0
    result = project_to_neighbors(problem, 11, near=near)
    assert mean_neighbors(result.plan) == pytest.approx(11, rel=0.02)
    assert problem.n_solved <= 3
    certify(similarity(1.0), result.eta2, result)
