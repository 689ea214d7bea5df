import numpy as np
import pytest
from scipy import sparse

from dssc.stochastic.potential_error import potential_errors


def plan(edges, n):
    A = np.zeros((n, n))
    for i, j in edges:
        A[i, j] = A[j, i] = 0.5
    return sparse.csr_array(A)


def test_bounds_count_the_steps_of_odd_walks():
    # A triangle with a tail: the walk of a point goes to the triangle, around it, and back.
    A = plan([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4)], 5)
    bounds, is_free = potential_errors(A, 0.0, 1e-3)[:2]
    assert not is_free.any()
    # From the root 0 the points are 0, 1, 1, 2, 3 steps away, and the triangle has 3 steps.
    np.testing.assert_allclose(bounds / bounds[0], [1, 1, 1, 5 / 3, 7 / 3])
    assert bounds[0] == pytest.approx(3 / 2 * 4e-3)


def test_a_point_that_keeps_mass_for_itself_has_the_smallest_bound():
    A = plan([(0, 0), (0, 1)], 2)
    bounds, is_free = potential_errors(A, 0.0, 1e-3)[:2]
    assert not is_free.any()
    assert bounds[0] == pytest.approx(4e-3 / 2)


def test_bipartite_components_are_free_if_balanced():
    A = plan([(0, 1), (2, 3), (2, 4), (5, 5)], 6)
    bounds, is_free = potential_errors(A, 0.0, 1e-3)[:2]
    assert is_free.tolist() == [True] * 5 + [False]
    assert np.isfinite(bounds).tolist() == [True, True, False, False, False, True]


def test_distances_add_like_squares():
    # The walk of point 4 is 7 steps long, and its error at most sqrt(7 / 2) times the distance.
    A = plan([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4)], 5)
    bounds = potential_errors(A, 1e-10, 0.0).bounds
    distance = np.sqrt(2e-10 * np.sum(A.data**2))
    np.testing.assert_allclose(bounds, distance * np.sqrt(np.array([3, 3, 3, 5, 7]) / 2), rtol=1e-4)


@pytest.mark.parametrize("seed", range(20))
def test_no_change_of_potentials_exceeds_the_bounds(seed):
    """Among all errors whose sums have a given norm, a linear system gives the worst."""
    rng = np.random.default_rng(seed)
    n = 12
    edges = [(i, int(rng.integers(0, i))) for i in range(1, n)] + [(3, 3), (5, 9)][: 1 + seed % 2]
    A = plan(edges, n)
    pairs = np.argwhere(A.toarray() > 0)
    sums = np.zeros((len(pairs), n))  # of the errors of two potentials, by entry
    for place, (i, j) in enumerate(pairs):
        sums[place, i] += 1
        sums[place, j] += 1
    bounds, is_free = potential_errors(A, 1e-10, 0.0)[:2]
    if is_free.any():
        return
    worst = np.sqrt(np.diag(np.linalg.inv(sums.T @ sums)))  # of errors with sums of norm one
    assert np.all(worst <= bounds / np.sqrt(2e-10 * np.sum(A.data**2)))


def test_a_large_gap_bounds_nothing():
    assert np.all(np.isinf(potential_errors(plan([(0, 0)], 1), 0.5, 0.0).bounds))
