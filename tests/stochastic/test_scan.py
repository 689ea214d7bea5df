import itertools
import random
import time

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dssc._progress import Progress
from dssc.stochastic import scan
from dssc.stochastic.scan import Weights, largest_similarities, rounds


@given(st.integers(1, 40))
def test_every_two_blocks_meet_once_and_never_two_at_a_time(n_blocks):
    met = []
    for pairs in rounds(n_blocks):
        players = [block for pair in pairs for block in set(pair)]
        assert len(players) == len(set(players))
        met += [tuple(sorted(pair)) for pair in pairs if max(pair) < n_blocks]
    assert sorted(met) == [(i, j) for i in range(n_blocks) for j in range(i, n_blocks)]


def problem(rng, n, d=9):
    vectors = rng.standard_normal((n, d)).astype(np.float32)
    owner, partner = rng.random((2, n)) + 0.5
    norms = np.linalg.norm(vectors.astype(np.float64), axis=1)
    exact = np.abs(vectors.astype(np.float64) @ vectors.T.astype(np.float64))
    return (
        vectors,
        Weights.rounded_up(owner, partner, norms, (d + 8) * 2.0**-24),
        (exact * (owner[:, None] + partner)),
    )


@pytest.mark.parametrize(("n", "n_kept"), [(5, 3), (300, 20), (301, 290), (700, 40)])
def test_lists_hold_everything_above_their_thresholds(n, n_kept, rng, monkeypatch):
    monkeypatch.setattr(scan, "TILE", 64)
    vectors, weights, exact = problem(rng, n)
    (lists,) = largest_similarities(vectors, [weights], False, n_kept, Progress())
    for i in range(n):
        held = lists.places[i, : lists.counts[i]]
        assert len(set(held)) == len(held) <= n_kept
        assert i not in held
        omitted = np.setdiff1d(np.arange(n), [*held, i])
        assert np.all(exact[i, omitted] <= lists.thresholds[i])
        assert np.all(exact[i, held] <= lists.values[i, : lists.counts[i]])
    # Dropping by a guess must not cost more than a few of the entries asked for.
    assert lists.counts.mean() > 0.9 * min(n_kept, n - 1)


def test_one_pass_serves_two_kinds_of_weights(rng, monkeypatch):
    monkeypatch.setattr(scan, "TILE", 64)
    vectors, weights, _ = problem(rng, 200)
    other = Weights(weights.partner, weights.owner, weights.margins, weights.norms)
    both = largest_similarities(vectors, [weights, other], False, 15, Progress())
    for lists, kind in zip(both, (weights, other), strict=True):
        (alone,) = largest_similarities(vectors, [kind], False, 15, Progress())
        np.testing.assert_array_equal(lists.places[:, :15], alone.places[:, :15])


def test_threads_do_not_change_the_lists(thread_counts, rng, monkeypatch):
    monkeypatch.setattr(scan, "TILE", 64)
    vectors, weights, _ = problem(rng, 500)
    results = []
    for n_threads in thread_counts:
        numba.set_num_threads(n_threads)
        results += largest_similarities(vectors, [weights], False, 20, Progress())
    np.testing.assert_array_equal(results[0].thresholds, results[1].thresholds)
    np.testing.assert_array_equal(results[0].places[:, :20], results[1].places[:, :20])


@pytest.mark.parametrize("n_blocks", [21, 22])  # with and without byes
def test_blocks_meet_one_after_the_other_in_the_order_of_the_rounds(n_blocks, rng, monkeypatch):
    monkeypatch.setattr(scan, "TILE", 20)
    vectors, weights, _ = problem(rng, 20 * n_blocks)
    round_of = {
        tuple(sorted(pair)): number
        for number, pairs in enumerate(rounds(n_blocks))
        for pair in pairs
    }
    keep, delays = scan.kernels.keep_largest, random.Random(0)
    playing, last = set(), dict.fromkeys(range(n_blocks), -1)

    def keep_slowly(tile, row, column, *arguments):
        pair = {row // 20, column // 20}
        assert not playing & pair
        playing.update(pair)
        number = round_of[row // 20, column // 20]
        assert all(last[block] < number for block in pair)
        last.update(dict.fromkeys(pair, number))
        time.sleep(delays.choice([0.0] * 9 + [0.02]))
        keep(tile, row, column, *arguments)
        playing.difference_update(pair)

    monkeypatch.setattr(scan.kernels, "keep_largest", keep_slowly)
    monkeypatch.setattr(scan.kernels, "n_threads", lambda: 16)
    largest_similarities(vectors, [weights], False, 20, Progress())


@pytest.mark.parametrize("last", [1, 10, 100])
def test_a_failure_on_one_thread_ends_the_search(last, rng, monkeypatch):
    monkeypatch.setattr(scan, "TILE", 20)
    vectors, weights, _ = problem(rng, 420)
    keep, calls = scan.kernels.keep_largest, itertools.count(1)

    def keep_a_few(*arguments):
        if next(calls) >= last:
            raise MemoryError("no more")
        keep(*arguments)

    monkeypatch.setattr(scan.kernels, "keep_largest", keep_a_few)
    monkeypatch.setattr(scan.kernels, "n_threads", lambda: 4)
    with pytest.raises(MemoryError, match="no more"):
        largest_similarities(vectors, [weights], False, 20, Progress())


def test_lists_are_sorted_by_falling_value_and_rising_place(rng, monkeypatch):
    monkeypatch.setattr(scan, "TILE", 7)
    values = (rng.integers(0, 4, (30, 12)) / 4).astype(np.float32)  # many are equal, some zero
    places = rng.permuted(np.tile(np.arange(12, dtype=np.int32), (30, 1)), axis=1)
    counts = rng.integers(0, 10, 30)
    lists = scan.Lists(values.copy(), places.copy(), counts, np.zeros(30, dtype=np.float32))
    scan.sort([lists], 9)
    for i, count in enumerate(counts):
        order = np.lexsort((places[i, :count], -values[i, :count]))
        np.testing.assert_array_equal(lists.values[i, :count], values[i, order])
        np.testing.assert_array_equal(lists.places[i, :count], places[i, order])
