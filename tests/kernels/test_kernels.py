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


def lists(n, room):
    return (
        np.zeros((n, room), dtype=np.float32),
        np.full((n, room), -1, dtype=np.int32),
        np.zeros(n, dtype=np.int64),
        np.full(n, -np.inf, dtype=np.float32),
    )


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("corner", [(0, 0), (0, 150)])
def test_keep_largest_and_shorten_lists_agree_with_numpy(engine, corner, rng):
    n, height, width = 300, 130, 150
    tile = rng.standard_normal((height, width)).astype(np.float32)
    if corner == (0, 0):
        tile = tile[:, :height] + tile[:, :height].T
    weights = [rng.random(n).astype(np.float32) for _ in range(4)]
    results = []
    for kernels_ in (engine, _numpy):
        out = lists(n, 12)
        kernels_.keep_largest(tile, *corner, *weights, 8, 11, *out)
        kernels_.shorten_lists(5, *out)
        results.append(out)
    (values, places, counts, thresholds), expected = results
    np.testing.assert_array_equal(counts, expected[2])
    np.testing.assert_allclose(thresholds, expected[3], rtol=1e-6)
    for i in np.flatnonzero(counts):
        ours = dict(zip(places[i, : counts[i]], values[i, : counts[i]], strict=True))
        theirs = dict(zip(expected[1][i, : counts[i]], expected[0][i, : counts[i]], strict=True))
        assert ours == pytest.approx(theirs, rel=1e-6)
        assert min(ours.values()) == thresholds[i]


@pytest.mark.parametrize("engine", ENGINES)
def test_paired_products_agree_with_numpy(engine, rng):
    exact = rng.standard_normal((30, 37))
    vectors = exact.astype(np.float32)
    rest = (exact - vectors).astype(np.float32)
    rows, columns = rng.integers(0, 30, (2, 200))
    out, expected = np.empty(200), np.empty(200)
    engine.paired_products(vectors, rest, rows, columns, out)
    _numpy.paired_products(vectors, rest, rows, columns, expected)
    np.testing.assert_allclose(out, expected, atol=1e-14)
    np.testing.assert_allclose(out, np.sum(exact[rows] * exact[columns], axis=1), atol=1e-12)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_unit_rows_and_split_rows_agree_with_numpy(engine, dtype, rng):
    X = (rng.standard_normal((20, 33)) * 10.0 ** rng.integers(-15, 15, (20, 1))).astype(dtype)
    places = rng.permutation(20)
    results = []
    for kernels_ in (engine, _numpy):
        unit, norms = np.empty(X.shape), np.empty(20)
        vectors, rest = np.empty((2, 20, 33), dtype=np.float32)
        kernels_.unit_rows(X, unit)
        kernels_.split_rows(3 * unit, places, vectors, rest, norms)
        results.append((unit, vectors, rest, norms))
    for ours, expected in zip(*results, strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-6, atol=1e-15)
    unit, vectors, rest, norms = results[0]
    np.testing.assert_allclose(np.linalg.norm(unit, axis=1), 1.0, rtol=1e-14)
    np.testing.assert_allclose(norms, 3.0, rtol=1e-14)
    exact = vectors[places].astype(np.float64) + rest[places]
    np.testing.assert_allclose(exact, 3 * unit, rtol=1e-14, atol=1e-16)


@pytest.mark.parametrize("engine", ENGINES)
def test_mark_above_agrees_with_numpy(engine, rng):
    tile = rng.standard_normal((40, 70)).astype(np.float32)
    rows = [rng.random(40).astype(np.float32) for _ in range(3)]
    columns = [rng.random(70).astype(np.float32) for _ in range(3)]
    arguments = tile, rows[0], columns[0], rows[1], columns[1], rows[2], columns[2]
    marks, expected = np.empty(tile.shape, dtype=bool), np.empty(tile.shape, dtype=bool)
    engine.mark_above(*arguments, marks)
    _numpy.mark_above(*arguments, expected)
    assert 0 < expected.sum() < expected.size
    np.testing.assert_array_equal(marks, expected)


@pytest.mark.parametrize("engine", ENGINES)
def test_chebyshev_step_agrees_with_numpy(engine, graph_and_potentials, rng):
    (indptr, indices, data), w = graph_and_potentials
    x, y = rng.standard_normal((2, len(w), 3))
    out, expected = np.empty_like(x), np.empty_like(x)
    for kernels_, target in ((engine, out), (_numpy, expected)):
        kernels_.chebyshev_step(indptr, indices, data, x, y, 1.3, -0.2, 0.7, target)
    np.testing.assert_allclose(out, expected, atol=1e-13)


@pytest.mark.parametrize("engine", ENGINES)
def test_sparse_product_agrees_with_numpy(engine, graph_and_potentials):
    graph, w = graph_and_potentials
    out, expected = np.empty(len(w)), np.empty(len(w))
    engine.sparse_product(*graph, w, out)
    _numpy.sparse_product(*graph, w, expected)
    np.testing.assert_allclose(out, expected, atol=1e-13)


def sorted_lists(rng, n, room, ties):
    """Return lists of the largest entries of a symmetric matrix, as the scan leaves them."""
    K = rng.random((n, n))
    K = np.round(K, 1) if ties else K
    K = np.triu(K, 1) + np.triu(K, 1).T
    counts = rng.integers(0, room + 1, n)
    places = np.argsort(-K + 9 * np.eye(n), axis=1, kind="stable")[:, :room].astype(np.int32)
    values = np.take_along_axis(K, places.astype(int), axis=1).astype(np.float32)
    limits = np.array([values[i, c - 1] if c else K.max() for i, c in enumerate(counts)])
    return values, places, counts, limits.astype(np.float32)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("ties", [False, True])
def test_the_graph_of_lists_agrees_with_numpy(engine, ties, rng):
    lists = sorted_lists(rng, 40, 9, ties)
    graphs = []
    for kernels_ in (engine, _numpy):
        degrees = np.ones(40, dtype=np.int64)  # with room for one entry more
        kernels_.list_degrees(*lists, degrees)
        indptr = np.concatenate([[0], np.cumsum(degrees)])
        ends = indptr[:-1] + 1
        indices, bounds = np.full(indptr[-1], -1, dtype=np.int32), np.zeros(indptr[-1])
        kernels_.list_graph(*lists, ends, indices, bounds)
        np.testing.assert_array_equal(ends, indptr[1:])
        rows = np.repeat(np.arange(40), degrees)
        graphs.append(sorted(zip(rows, indices, bounds, strict=True)))
    assert graphs[0] == graphs[1]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("ties", [False, True])
def test_entries_of_lists_above_potentials_agree_with_numpy(engine, ties, rng):
    lists = sorted_lists(rng, 40, 9, ties)
    own, others = 0.4 + 0.1 * rng.random((2, 40))
    results = []
    for kernels_ in (engine, _numpy):
        counts = np.empty(40, dtype=np.int64)
        kernels_.count_listed_above(*lists, own, others, counts)
        starts = np.concatenate([[0], np.cumsum(counts)])
        rows, columns = np.full((2, starts[-1]), -1, dtype=np.int32)
        kernels_.listed_above(*lists, own, others, starts, rows, columns)
        results.append(np.array([rows, columns]))
    np.testing.assert_array_equal(*results)
    # Every listed pair above is found, from one side or both.
    found = set(map(frozenset, results[0].T.tolist()))
    values, places, counts, _ = lists
    for i in range(40):
        for e in range(counts[i]):
            j = places[i, e]
            if i < j and values[i, e] > own[i] + others[j]:
                assert frozenset((i, int(j))) in found


@pytest.mark.parametrize("engine", [*ENGINES, _numpy])
def test_merged_rows_and_held_places_are_those_of_the_sum(engine, rng):
    whole = sparse.random_array((30, 20), density=0.4, rng=rng, format="csr")
    whole.sort_indices()
    rows = np.repeat(np.arange(30), np.diff(whole.indptr))
    chosen = rng.random(whole.nnz) < 0.5
    parts = []
    for mask in (chosen, ~chosen):
        indptr = np.concatenate([[0], np.cumsum(np.bincount(rows[mask], minlength=30))])
        parts.append((indptr, whole.indices[mask], whole.data[mask]))
    indptr = parts[0][0] + parts[1][0]
    indices, values = np.empty_like(whole.indices), np.empty_like(whole.data)
    engine.merge_rows(*parts, indptr, indices, values)
    np.testing.assert_array_equal(indptr, whole.indptr)
    np.testing.assert_array_equal(indices, whole.indices)
    np.testing.assert_array_equal(values, whole.data)
    rows, columns = np.divmod(np.arange(600, dtype=np.int32), 20)
    held = np.empty(600, dtype=bool)
    engine.mark_held(whole.indptr, whole.indices, rows, columns, held)
    np.testing.assert_array_equal(held, whole.toarray().ravel() != 0)


@pytest.mark.parametrize("engine", [_numba, _numpy])
def test_numbers_are_found_where_they_stand(engine, rng):
    for n_keys in (0, 1, 40):
        keys = np.sort(rng.integers(-5, 50, n_keys))
        wanted = rng.integers(-9, 60, 100)
        at = np.empty(len(wanted), dtype=np.int64)
        engine.find_sorted(keys, wanted, at)
        assert at.tolist() == [np.count_nonzero(keys < number) for number in wanted]


def test_rows_are_grouped_sorted_and_packed_as_by_numpy(rng):
    n, m = 30, 17
    rows, columns = rng.integers(0, n, 400, dtype=np.int32), rng.integers(0, m, 400, dtype=np.int32)
    rows[rows == 5] = 6  # a row without any
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))])
    packed = []
    for engine in (_numba, _numpy):
        grouped, ends = np.empty_like(columns), indptr[:-1].copy()
        engine.group_by_row(rows, columns, ends, grouped)
        np.testing.assert_array_equal(ends, indptr[1:])
        counts = np.empty(n, dtype=np.int64)
        engine.sort_rows(indptr, grouped, counts)
        starts = np.concatenate([[0], np.cumsum(counts)])
        packed.append(np.empty(starts[-1], dtype=np.int32))
        engine.pack_rows(indptr, grouped, starts, packed[-1])
    expected = sorted(set(zip(rows.tolist(), columns.tolist(), strict=True)))
    for found in packed:
        assert found.tolist() == [column for _, column in expected]
