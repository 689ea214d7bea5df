import pytest

from dssc.joint.pace import FACTOR, FAST, Pace


def followed(gaps):
    """Return what a pace multiplies with after each gap."""
    pace = Pace()
    return [pace.factor(gap) for gap in gaps]


def test_a_fast_fall_is_left_alone():
    assert followed([1.0, 0.1, 0.01]) == [1.0, 1.0, 1.0]


def test_a_slow_fall_tries_smaller_weights_while_they_help():
    assert followed([1.0, 0.9, 0.6, 0.3]) == [1.0] + 3 * [1.0 / FACTOR]


def test_what_made_it_slower_is_taken_back_and_the_other_way_tried():
    assert followed([1.0, 0.5, 0.4, 0.2]) == [1.0, 1.0 / FACTOR, FACTOR, FACTOR]


def test_a_weight_found_in_time_is_kept():
    factors = followed([1.0, 0.9, 0.9 / (2 * FAST), 0.9 / (2 * FAST) ** 2])
    assert factors == [1.0, 1.0 / FACTOR, 1.0, 1.0]


@pytest.mark.parametrize("first", [float("inf"), float("nan")])
def test_nothing_follows_from_a_gap_that_is_not_known(first):
    assert followed([first, 1.0, 0.1]) == [1.0, 1.0, 1.0]
