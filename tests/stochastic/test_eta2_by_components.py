import numpy as np
import pytest

from dssc import ADSSC, make_union_of_subspaces
from dssc.graph import count_components
from dssc.stochastic import ProjectionProblem, project_to_components
from dssc.stochastic.eta2_by_neighbors import mean_neighbors


@pytest.fixture(scope="module")
def K():
    X, _ = make_union_of_subspaces(120, n_subspaces=4, noise=0.1, random_state=0)
    K = np.abs(X @ X.T)
    np.fill_diagonal(K, 0.0)
    return K


@pytest.mark.parametrize("n_components", [1, 4, 10])
def test_nothing_sparser_has_as_few_components(n_components, K):
    problem = ProjectionProblem.of_matrix(K)
    result = project_to_components(problem, n_components)
    assert result.converged
    assert count_components(result.plan) <= n_components
    for factor in (1.03, 1.2, 1.5):
        sparser = problem.solve(result.eta2 / factor)
        assert count_components(sparser.plan) > n_components


def test_points_that_nothing_connects_are_left(rng):
    K = np.zeros((6, 6))
    K[:3, :3] = 1.0
    result = project_to_components(ProjectionProblem.of_matrix(K), 6)
    assert count_components(result.plan) <= 6


def test_the_estimator_takes_it_by_name():
    X = make_union_of_subspaces(200, n_subspaces=4, noise=0.1, random_state=0)[0]
    model = ADSSC(4, eta2="components", random_state=0).fit(X)
    assert count_components(model.affinity_matrix_) <= 4
    assert mean_neighbors(model.affinity_matrix_) < 12
    with pytest.raises(ValueError, match="n_clusters"):
        ADSSC(None, eta2="components").fit(X)
    with pytest.raises(ValueError, match="eta2='pieces'"):
        ADSSC(4, eta2="pieces").fit(X)
