import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dssc._progress import Progress
from dssc.stochastic import scan, scan_parts
from dssc.stochastic.scan import Weights, largest_similarities, rounds
from dssc.stochastic.scan_parts import (
    Candidates,
    LocalRunner,
    PartResult,
    find_candidates_alone,
    largest_similarities_by_parts,
    phases,
)


class Backwards:
    """Finds the candidates of the last part first, from chunks of several blocks."""

    def __init__(self, vectors, blocks_per_chunk):
        rows = blocks_per_chunk * scan_parts.TILE
        self.chunks = [vectors[i : i + rows].copy() for i in range(0, len(vectors), rows)]
        self.blocks_per_chunk = blocks_per_chunk

    def __call__(self, parts, points, signed):
        for part in reversed(parts):
            numbers = sorted({block // self.blocks_per_chunk for block in part.blocks})
            bounds = points.of_blocks(part.blocks)
            chunks = [self.chunks[number] for number in numbers]
            yield (
                part,
                find_candidates_alone(
                    part.meetings, numbers, bounds, signed, self.blocks_per_chunk, *chunks
                ),
            )


def problem(rng, n, d=9):
    vectors = rng.standard_normal((n, d)).astype(np.float32)
    owner, partner = rng.random((2, n)) + 0.5
    norms = np.linalg.norm(vectors.astype(np.float64), axis=1)
    weights = Weights.rounded_up(owner, partner, norms, (d + 8) * 2.0**-24)
    return vectors, [weights, Weights(weights.partner, weights.owner, *weights[2:])]


@given(st.integers(1, 90))
def test_phases_hold_every_meeting_once_and_in_order(n_blocks):
    played = [
        (number, *sorted(pair))
        for number, pairs in enumerate(rounds(n_blocks), start=1)
        for pair in pairs
        if max(pair) < n_blocks
    ]
    by_phase = [[tuple(m) for part in parts for m in part.meetings] for parts in phases(n_blocks)]
    assert sorted(m for phase in by_phase for m in phase) == sorted(played)
    assert [{number for number, _, _ in phase} for phase in by_phase] == [
        set(range(2**i // 2 + 1, min(2**i, played[-1][0]) + 1)) for i in range(len(by_phase))
    ]


def test_names_of_parts_differ():
    names = [part.name for parts in phases(70) for part in parts]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("runner", [LocalRunner, lambda vectors: Backwards(vectors, 4)])
@pytest.mark.parametrize(
    ("n", "n_kept", "signed"), [(5, 3, False), (300, 20, True), (301, 290, False), (1500, 40, True)]
)
def test_parts_give_the_bits_of_the_tournament(runner, n, n_kept, signed, rng, monkeypatch):
    monkeypatch.setattr(scan, "TILE", 64)
    monkeypatch.setattr(scan_parts, "TILE", 64)
    vectors, weights = problem(rng, n)
    for kinds in (weights, weights[:1]):
        arguments = vectors, kinds, signed, n_kept, Progress()
        by_parts = largest_similarities_by_parts(*arguments, runner(vectors))
        for ours, expected in zip(by_parts, largest_similarities(*arguments), strict=True):
            for one, other in zip(ours, expected, strict=True):
                np.testing.assert_array_equal(one, other)


@given(st.lists(st.lists(st.integers(0, 50), min_size=3, max_size=3), min_size=1, max_size=2))
def test_packing_loses_nothing(counts_of_kinds):
    rng = np.random.default_rng(0)
    kinds = [
        Candidates(
            np.array(counts),
            rng.integers(0, 99, sum(counts)).astype(np.int32),
            rng.random(sum(counts)).astype(np.float32),
        )
        for counts in counts_of_kinds
    ]
    result = PartResult.packed(kinds)
    assert result.is_intact
    for ours, expected in zip(result.unpacked(3, len(kinds)), kinds, strict=True):
        for one, other in zip(ours, expected, strict=True):
            np.testing.assert_array_equal(one, other)


@given(st.integers(0, 8 * 44 - 1))
def test_every_flipped_bit_is_noticed(bit):
    counts, places = np.array([1, 2]), np.arange(3, dtype=np.int32)
    result = PartResult.packed([Candidates(counts, places, places.astype(np.float32))])
    damaged = bytearray(result.content)
    damaged[bit // 8 % len(damaged)] ^= 1 << bit % 8
    assert not PartResult(bytes(damaged), result.checksum).is_intact
