import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dssc.stochastic.support import Support, distinct

places = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=30)


def arrays(pairs):
    rows, columns = np.array(sorted(pairs), dtype=np.int32).reshape(-1, 2).T
    return rows, columns


@given(places, places, st.booleans())
def test_distinct_places_come_once_and_in_order(first, second, symmetric):
    parts = [tuple(np.array(part, dtype=np.int32).reshape(-1, 2).T) for part in (first, second)]
    rows, columns = distinct(parts, (7, 7), symmetric)
    expected = {(min(p), max(p)) if symmetric else p for p in first + second}
    assert list(zip(rows.tolist(), columns.tolist(), strict=True)) == sorted(expected)


@given(st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6))), places)
def test_places_that_are_not_held_are_those_that_were_not_given(held, wanted):
    support = Support.of(*arrays(held), np.zeros(len(held)), (7, 7), symmetric=False)
    rows, columns = support.not_held(*arrays(wanted))
    left = list(zip(rows.tolist(), columns.tolist(), strict=True))
    assert left == [place for place in sorted(wanted) if place not in held]
