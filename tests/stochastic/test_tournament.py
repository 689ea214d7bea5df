import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dssc._progress import Progress
from dssc.stochastic import scan, scan_parts, tournament
from dssc.stochastic.scan import Weights, largest_similarities, rounds
from dssc.stochastic.scan_parts import LocalRunner, find_candidates
from dssc.stochastic.tournament import groups, largest_similarities_by_parts


class Stubborn(LocalRunner):
    """Computes the last of all parts that are ready first, one at a time."""

    def __call__(self, next_part):
        waiting = []
        while True:
            while (part := next_part()) is not None:
                waiting.append(part)
            if not waiting:
                return
            part = waiting.pop()
            yield part, find_candidates(part, self._vectors_of, self._weights_of)


def problem(rng, n, d=9):
    vectors = rng.standard_normal((n, d)).astype(np.float32)
    owner, partner = rng.random((2, n)) + 0.5
    norms = np.linalg.norm(vectors.astype(np.float64), axis=1)
    weights = Weights.rounded_up(owner, partner, norms, (d + 8) * 2.0**-24)
    return vectors, [weights, Weights(weights.partner, weights.owner, *weights[2:])]


@given(st.integers(1, 90))
def test_groups_hold_every_meeting_once_and_in_order(n_blocks):
    played = [
        (number, *sorted(pair))
        for number, pairs in enumerate(rounds(n_blocks), start=1)
        for pair in pairs
        if max(pair) < n_blocks
    ]
    by_group = [
        [tuple(m) for part in group.parts.values() for m in part.tolist()]
        for group in groups(n_blocks)
    ]
    assert sorted(m for group in by_group for m in group) == sorted(played)
    last = 0
    for group, meetings in zip(groups(n_blocks), by_group, strict=True):
        numbers = {number for number, _, _ in meetings}
        assert numbers == set(range(last + 1, group.last_round + 1))
        assert group.last_round <= max(1, 2 * last)
        last = group.last_round


@pytest.mark.parametrize("n_blocks", [79, 400, 1000])
def test_meetings_that_follow_each_other_need_few_blocks(n_blocks):
    """Of the 64 meetings of a square, each needs two blocks; most of them are shared."""
    for group in groups(n_blocks):
        for meetings in group.parts.values():
            for start in range(0, len(meetings), 64):
                blocks = np.unique(meetings[start : start + 64, 1:])
                assert len(blocks) <= 2 * tournament.BLOCKS_TOGETHER
    n_squares = sum(
        -(-len(meetings) // 64) for group in groups(n_blocks) for meetings in group.parts.values()
    )
    n_needed = sum(
        len(np.unique(meetings[start : start + 64, 1:]))
        for group in groups(n_blocks)
        for meetings in group.parts.values()
        for start in range(0, len(meetings), 64)
    )
    assert n_needed <= 1.1 * tournament.BLOCKS_TOGETHER * n_squares


def test_names_of_parts_differ():
    names = [name for group in groups(70) for name in group.parts]
    assert len(set(names)) == len(names)


def test_parts_need_few_blocks():
    for group in groups(300):
        for meetings in group.parts.values():
            assert len(np.unique(meetings[:, 1:])) <= 6 * tournament.blocks_per_side(300)


@pytest.mark.parametrize("runner", [LocalRunner, Stubborn])
@pytest.mark.parametrize(
    ("n", "n_kept", "signed"), [(5, 3, False), (300, 20, True), (301, 290, False), (1500, 40, True)]
)
def test_parts_give_the_bits_of_the_tournament(runner, n, n_kept, signed, rng, monkeypatch):
    for module in (scan, scan_parts, tournament):
        monkeypatch.setattr(module, "TILE", 64)
    vectors, weights = problem(rng, n)
    for kinds in (weights, weights[:1]):
        expected = largest_similarities(vectors, kinds, signed, n_kept, Progress())
        run = runner(vectors, kinds)
        by_parts = largest_similarities_by_parts(
            vectors.shape, kinds, signed, n_kept, Progress(), run
        )
        for ours, theirs in zip(by_parts, expected, strict=True):
            for one, other in zip(ours, theirs, strict=True):
                np.testing.assert_array_equal(one, other)


def test_what_parts_return_is_in_proportion_to_the_points(rng, monkeypatch):
    for module in (scan, scan_parts, tournament):
        monkeypatch.setattr(module, "TILE", 16)
    sizes = []
    for n in (500, 2000):
        vectors, weights = problem(rng, n)
        run, size = LocalRunner(vectors, weights[:1]), 0

        def counted(next_part, run=run):
            nonlocal size
            for part, result in run(next_part):
                size += len(result.content)
                yield part, result

        largest_similarities_by_parts(vectors.shape, weights[:1], False, 10, Progress(), counted)
        sizes.append(size / n)
    assert sizes[1] < 2 * sizes[0]
