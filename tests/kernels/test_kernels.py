import json
import os
import subprocess
import sys

import numba
import numpy as np
import pytest
from scipy import sparse

from dssc import kernels
from dssc.kernels import _numba, _numpy

ENGINES = [_numba]


def random_graph(rng, n, density=0.3):
    upper = sparse.random_array((n, n), density=density, rng=rng)
    K = sparse.csr_array(upper + upper.T + sparse.eye_array(n))
    K.sort_indices()
    w = 0.3 * rng.standard_normal(n)
    return (K.indptr.astype(np.int64), K.indices.astype(np.int32), K.data), w


@pytest.fixture(params=range(5))
def graph_and_potentials(request):
    rng = np.random.default_rng(request.param)
    return random_graph(rng, int(rng.integers(1, 80)))


@pytest.mark.parametrize("engine", ENGINES)
def test_slacks_agree_with_numpy(engine, graph_and_potentials):
    graph, w = graph_and_potentials
    out, expected = np.empty_like(graph[2]), np.empty_like(graph[2])
    engine.slacks(*graph, w, out)
    _numpy.slacks(*graph, w, expected)
    np.testing.assert_array_equal(out, expected)


def test_slacks_of_mirrored_entries_are_the_same_number(rng):
    graph, w = random_graph(rng, 60)
    out = np.empty_like(graph[2])
    _numba.slacks(*graph, w * 1e6, out)
    slack = sparse.csr_array((out, graph[1], graph[0])).toarray()
    np.testing.assert_array_equal(slack, slack.T)


@pytest.mark.parametrize("engine", ENGINES)
def test_row_sums_agree_with_numpy(engine, graph_and_potentials):
    graph, w = graph_and_potentials
    n = len(w)
    outcomes = []
    for kernels_ in (engine, _numpy):
        sums, squares, counts = np.empty(n), np.empty(n), np.empty(n, dtype=np.int64)
        kernels_.row_sums(*graph, w, sums, squares, counts)
        outcomes.append((sums, squares, counts))
    for ours, expected in zip(*outcomes, strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-14)


@pytest.mark.parametrize("engine", [*ENGINES, _numpy])
def test_row_thresholds_meet_their_targets(engine, graph_and_potentials):
    (indptr, indices, values), w = graph_and_potentials
    targets = np.linspace(0.5, 2.0, len(w))
    t = np.empty(len(w))
    engine.row_thresholds(indptr, indices, values, w, targets, t)
    for i in range(len(w)):
        row = slice(indptr[i], indptr[i + 1])
        mass = np.maximum(values[row] - w[indices[row]] - t[i], 0).sum()
        assert mass == pytest.approx(targets[i], rel=1e-12)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_row_thresholds_agree_with_numpy_at_every_scale(engine, scale, rng):
    (indptr, indices, values), w = random_graph(rng, 50)
    t, expected = np.empty(50), np.empty(50)
    arguments = (indptr, indices, values * scale, w * scale, np.ones(50))
    engine.row_thresholds(*arguments, t)
    _numpy.row_thresholds(*arguments, expected)
    np.testing.assert_allclose(t, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("engine", ENGINES)
def test_active_pattern_agrees_with_numpy(engine, graph_and_potentials):
    graph, w = graph_and_potentials
    counts = np.empty(len(w), dtype=np.int64)
    _numpy.row_sums(*graph, w, np.empty(len(w)), np.empty(len(w)), counts)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    active, expected = (np.zeros(len(graph[1]), dtype=np.int32) for _ in range(2))
    engine.active_pattern(*graph, w, indptr, active)
    _numpy.active_pattern(*graph, w, indptr, expected)
    np.testing.assert_array_equal(active, expected)


@pytest.mark.parametrize("engine", [*ENGINES, _numpy])
def test_solve_pattern_solves_the_system(engine, graph_and_potentials):
    (indptr, indices, _), w = graph_and_potentials
    n = len(w)
    diagonal = 1.001 * np.diff(indptr)
    x = np.empty(n)
    reached, steps = engine.solve_pattern(indptr, indices, diagonal, w, 1e-12, 10 * n, x)
    S = sparse.csr_array((np.ones(len(indices)), indices, indptr), shape=(n, n)).toarray()
    assert reached <= 1e-12
    assert 0 < steps <= 10 * n
    np.testing.assert_allclose((np.diag(diagonal) + S) @ x, w, atol=1e-9)


@pytest.mark.parametrize("engine", [*ENGINES, _numpy])
def test_solve_pattern_of_a_zero_right_hand_side_is_zero(engine, rng):
    (indptr, indices, _), w = random_graph(rng, 10)
    x = np.ones(10)
    assert engine.solve_pattern(indptr, indices, np.ones(10), 0 * w, 1e-8, 5, x) == (0.0, 0)
    assert not x.any()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k", [1, 2, 7, 40])
def test_top_k_agrees_with_numpy(engine, dtype, k, rng):
    K = rng.standard_normal((40, 40)).astype(dtype)
    K[:, 3] = K[:, 5]
    values, indices = np.empty((40, k), dtype=dtype), np.empty((40, k), dtype=np.int32)
    expected, _ = np.empty((40, k)), np.empty((40, k), dtype=np.int32)
    engine.top_k(K, k, values, indices)
    _numpy.top_k(K, k, expected, _)
    np.testing.assert_array_equal(np.sort(values, axis=1), np.sort(expected, axis=1))
    np.testing.assert_array_equal(np.take_along_axis(K, indices.astype(int), axis=1), values)


@pytest.mark.parametrize("engine", [*ENGINES, _numpy])
@pytest.mark.parametrize("shape", [(40, 40), (7, 150), (150, 7)])
def test_top_k_of_columns_is_that_of_the_transpose_s_rows(engine, shape, rng):
    K = rng.standard_normal(shape)
    values, indices = np.empty((shape[1], 5)), np.empty((shape[1], 5), dtype=np.int32)
    engine.top_k_columns(K, 5, values, indices)
    np.testing.assert_array_equal(np.sort(values), np.sort(K.T, axis=1)[:, -5:])
    np.testing.assert_array_equal(np.take_along_axis(K.T, indices.astype(int), axis=1), values)


def test_one_thread_and_two_give_the_same_bits(rng):
    if numba.config.NUMBA_NUM_THREADS < 2:
        pytest.skip("this machine gives numba one thread")
    graph, w = random_graph(rng, 500, density=0.05)
    outcomes = []
    for n_threads in (1, 2):
        numba.set_num_threads(n_threads)
        sums, squares, x = np.empty(500), np.empty(500), np.empty(500)
        _numba.row_sums(*graph, w, sums, squares, np.empty(500, dtype=np.int64))
        _numba.solve_pattern(graph[0], graph[1], 1.01 * np.diff(graph[0]), w, 1e-10, 99, x)
        outcomes.append((sums, squares, x))
    for one, two in zip(*outcomes, strict=True):
        np.testing.assert_array_equal(one, two)


def test_unknown_device_is_named():
    with pytest.raises(ValueError, match="device='tpu'"):
        kernels.select("tpu")


CACHE_PROBE = """
import json, numpy as np
from dssc import project_doubly_stochastic
from dssc.kernels import _numba
project_doubly_stochastic(np.random.default_rng(0).random((300, 300)), 0.1)
dispatchers = [f for f in vars(_numba).values() if hasattr(f, "stats")]
print(json.dumps(sum(sum(f.stats.cache_misses.values()) for f in dispatchers)))
"""


def test_a_second_process_does_not_compile_again(tmp_path):
    def misses():
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
        command = [sys.executable, "-c", CACHE_PROBE]
        done = subprocess.run(command, env=environment, capture_output=True, check=True, text=True)
        return json.loads(done.stdout)

    assert misses() > 0
    assert misses() == 0
