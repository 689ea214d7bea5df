import pytest

from dssc.joint.proximal_weight import FACTOR, FAST, WeightSearch


def factors(gaps):
    """Return the factor of the weight after each gap."""
    search = WeightSearch()
    return [search.factor(gap) for gap in gaps]


def test_a_fast_fall_does_not_change_the_weight():
    assert factors([1.0, 0.1, 0.01]) == [1.0, 1.0, 1.0]


def test_a_slow_fall_tries_smaller_weights_while_they_help():
    assert factors([1.0, 0.9, 0.6, 0.3]) == [1.0] + 3 * [1.0 / FACTOR]


def test_a_slower_fall_reverses_the_direction():
    assert factors([1.0, 0.5, 0.4, 0.2]) == [1.0, 1.0 / FACTOR, FACTOR, FACTOR]


def test_a_weight_with_a_fast_fall_is_kept():
    followed = factors([1.0, 0.9, 0.9 / (2 * FAST), 0.9 / (2 * FAST) ** 2])
    assert followed == [1.0, 1.0 / FACTOR, 1.0, 1.0]


@pytest.mark.parametrize("first", [float("inf"), float("nan")])
def test_an_unknown_gap_does_not_change_the_weight(first):
    assert factors([first, 1.0, 0.1]) == [1.0, 1.0, 1.0]
