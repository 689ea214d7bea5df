import numpy as np
import pytest

from dssc.stochastic import ProjectionProblem
from dssc.stochastic.accurate_projection import accurate_projection
from dssc.stochastic.eta2_interval import errors_between


def example(seed, n=40):
    rng = np.random.default_rng(seed)
    K = rng.uniform(size=(n, n)) ** 2
    K += K.T.copy()
    np.fill_diagonal(K, 0.0)
    problem = ProjectionProblem.of_matrix(K)
    result = problem.solve(1.0)
    return problem.near_pairs(result), result.potentials[0]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("ratio", [1.01, 1.1])
def test_potentials_between_two_values_are_within_the_bounds(seed, ratio):
    near, start = example(seed)
    ends = [accurate_projection(near, eta2, start) for eta2 in (1.0, ratio)]
    errors = errors_between(near, *ends)
    assert errors is not None
    largest = 0.0
    for t in np.linspace(0.05, 0.95, 10):
        middle = accurate_projection(near, 1.0 + t * (ratio - 1.0), start)
        straight = (1 - t) * ends[0].potentials + t * ends[1].potentials
        distance = np.abs(middle.potentials - straight)
        assert np.all(distance <= errors + middle.errors + ends[0].errors + ends[1].errors)
        largest = max(largest, distance.max())
    assert largest > 1e-3 * errors.max()  # the path is not straight, and the bound not idle


def test_the_gap_of_an_entry_is_largest_where_the_bound_says():
    x, y = np.random.default_rng(0).uniform(0.01, 1.0, (2, 100, 1))
    t = np.linspace(0.0, 1.0, 10_001)
    slack, plan = -(1 - t) * x + t * y, t * y
    term = 0.5 * (plan - np.maximum(slack, 0)) ** 2 + plan * np.maximum(-slack, 0)
    bound = (x**2 * y / (4 * x + 2 * y)).ravel()
    np.testing.assert_allclose(term.max(axis=1), bound, rtol=1e-6)


def test_components_are_problems_of_their_own():
    """The bound of one block does not grow with blocks beside it."""
    near, start = example(0)
    ends = [accurate_projection(near, eta2, start) for eta2 in (1.0, 1.1)]
    alone = errors_between(near, *ends)
    K = np.kron(np.eye(4), near.similarities.toarray() + 1.0) - 1.0
    problem = ProjectionProblem.of_matrix(K)
    result = problem.solve(1.0)
    beside = [
        accurate_projection(problem.near_pairs(result), eta2, result.potentials[0])
        for eta2 in (1.0, 1.1)
    ]
    together = errors_between(problem.near_pairs(result), *beside)
    np.testing.assert_allclose(together, np.tile(alone, 4), rtol=0.2)


def test_a_point_without_a_bound_leaves_nothing():
    near, start = example(0)
    ends = [accurate_projection(near, eta2, start) for eta2 in (1.0, 1.1)]
    ends[0].errors[3] = np.inf
    assert errors_between(near, *ends) is None
