import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dssc.stochastic.scan_parts import Candidates, Part, PartResult


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
    result = PartResult.of([array for kind in kinds for array in kind])
    assert result.is_intact
    for ours, expected in zip(result.candidates(3, len(kinds)), kinds, strict=True):
        for one, other in zip(ours, expected, strict=True):
            np.testing.assert_array_equal(one, other)


@given(st.integers(0, 8 * 44 - 1))
def test_every_flipped_bit_is_noticed(bit):
    counts, places = np.array([1, 2]), np.arange(3, dtype=np.int32)
    result = PartResult.of([counts, places, places.astype(np.float32)])
    damaged = bytearray(result.content)
    damaged[bit // 8 % len(damaged)] ^= 1 << bit % 8
    assert not PartResult(bytes(damaged), result.checksum).is_intact


@pytest.mark.parametrize("thresholds", [{}, {3: np.zeros((1, 2)), 5: np.zeros((1, 2))}])
def test_a_part_knows_its_blocks_and_whether_it_is_of_the_first_round(thresholds):
    part = Part("name", np.array([[1, 3, 5], [1, 3, 3]]), thresholds, 4, 8, False)
    assert part.blocks == [3, 5]
    assert part.is_first == (not thresholds)
