import hypothesis.strategies as st
from hypothesis import given

from dssc.report.colors import hues


@given(st.integers(1, 200))
def test_clusters_have_colours_of_their_own(k):
    assert len({round(hue * k / 360) for hue in hues(k)}) == k
