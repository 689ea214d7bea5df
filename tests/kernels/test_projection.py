import numpy as np
import pytest
from scipy import sparse

from dssc.kernels import projection
from dssc.kernels.reference import projection as reference
from tests.kernels.inputs import random_graph

both = pytest.mark.parametrize("kernels", [projection, reference], ids=["numba", "numpy"])


def test_slacks_agree_with_numpy(graph_and_potentials):
    graph, w = graph_and_potentials
    out, expected = np.empty_like(graph[2]), np.empty_like(graph[2])
    projection.slacks(*graph, w, out)
    reference.slacks(*graph, w, expected)
    np.testing.assert_array_equal(out, expected)


def test_slacks_of_mirrored_entries_are_the_same_number(rng):
    graph, w = random_graph(rng, 60)
    out = np.empty_like(graph[2])
    projection.slacks(*graph, w * 1e6, out)
    slack = sparse.csr_array((out, graph[1], graph[0])).toarray()
    np.testing.assert_array_equal(slack, slack.T)


def test_row_sums_agree_with_numpy(graph_and_potentials):
    graph, w = graph_and_potentials
    n = len(w)
    outcomes = []
    for kernels in (projection, reference):
        sums, squares, counts = np.empty(n), np.empty(n), np.empty(n, dtype=np.int64)
        kernels.row_sums(*graph, w, sums, squares, counts)
        outcomes.append((sums, squares, counts))
    for ours, expected in zip(*outcomes, strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-14)


@both
def test_row_thresholds_meet_their_targets(kernels, graph_and_potentials):
    (indptr, indices, values), w = graph_and_potentials
    targets = np.linspace(0.5, 2.0, len(w))
    t = np.empty(len(w))
    kernels.row_thresholds(indptr, indices, values, w, targets, t)
    for i in range(len(w)):
        row = slice(indptr[i], indptr[i + 1])
        mass = np.maximum(values[row] - w[indices[row]] - t[i], 0).sum()
        assert mass == pytest.approx(targets[i], rel=1e-12)


def test_weighted_row_sums_agree_with_numpy(graph_and_potentials, rng):
    graph, w = graph_and_potentials
    n, weights = len(w), rng.exponential(size=len(w))
    outcomes = []
    for kernels in (projection, reference):
        sums, degrees, counts = np.empty(n), np.empty(n), np.empty(n, dtype=np.int64)
        kernels.weighted_row_sums(*graph, w, weights, sums, degrees, counts)
        outcomes.append((sums, degrees, counts))
    for ours, expected in zip(*outcomes, strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-13)


@both
def test_weighted_row_thresholds_meet_their_targets(kernels, graph_and_potentials, rng):
    (indptr, indices, values), w = graph_and_potentials
    targets, weights = np.linspace(0.5, 2.0, len(w)), rng.exponential(size=len(w)) + 0.01
    t = np.empty(len(w))
    kernels.weighted_row_thresholds(indptr, indices, values, w, weights, targets, t)
    for i in range(len(w)):
        row = slice(indptr[i], indptr[i + 1])
        mass = weights[indices[row]] @ np.maximum(values[row] - w[indices[row]] - t[i], 0)
        assert mass == pytest.approx(targets[i], rel=1e-11)


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_row_thresholds_agree_with_numpy_at_every_scale(scale, rng):
    (indptr, indices, values), w = random_graph(rng, 50)
    t, expected = np.empty(50), np.empty(50)
    arguments = (indptr, indices, values * scale, w * scale, np.ones(50))
    projection.row_thresholds(*arguments, t)
    reference.row_thresholds(*arguments, expected)
    np.testing.assert_allclose(t, expected, rtol=1e-12, atol=1e-12)


def test_active_pattern_agrees_with_numpy(graph_and_potentials):
    graph, w = graph_and_potentials
    counts = np.empty(len(w), dtype=np.int64)
    reference.row_sums(*graph, w, np.empty(len(w)), np.empty(len(w)), counts)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    active, expected = (np.zeros(len(graph[1]), dtype=np.int32) for _ in range(2))
    projection.active_pattern(*graph, w, indptr, active)
    reference.active_pattern(*graph, w, indptr, expected)
    np.testing.assert_array_equal(active, expected)


@both
def test_solve_pattern_solves_the_system(kernels, graph_and_potentials):
    (indptr, indices, _), w = graph_and_potentials
    n = len(w)
    diagonal = 1.001 * np.diff(indptr)
    x = np.empty(n)
    reached, steps = kernels.solve_pattern(indptr, indices, diagonal, w, 1e-12, 10 * n, x)
    S = sparse.csr_array((np.ones(len(indices)), indices, indptr), shape=(n, n)).toarray()
    assert reached <= 1e-12
    assert 0 < steps <= 10 * n
    np.testing.assert_allclose((np.diag(diagonal) + S) @ x, w, atol=1e-9)


@pytest.mark.parametrize("max_iter", [1, 4])
def test_each_step_of_solve_pattern_agrees_with_numpy(max_iter, graph_and_potentials):
    (indptr, indices, _), w = graph_and_potentials
    outcomes = []
    for kernels in (projection, reference):
        x = np.empty(len(w))
        done = kernels.solve_pattern(indptr, indices, 2.0 * np.diff(indptr), w, 1e-6, max_iter, x)
        outcomes.append((x, *done))
    (x, reached, steps), expected = outcomes
    np.testing.assert_allclose(x, expected[0], atol=1e-12)
    assert reached == pytest.approx(expected[1], abs=1e-12)
    assert steps == expected[2]


@both
def test_solve_pattern_of_a_zero_right_hand_side_is_zero(kernels, rng):
    (indptr, indices, _), w = random_graph(rng, 10)
    x = np.ones(10)
    assert kernels.solve_pattern(indptr, indices, np.ones(10), 0 * w, 1e-8, 5, x) == (0.0, 0)
    assert not x.any()
