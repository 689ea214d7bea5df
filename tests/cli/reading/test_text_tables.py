import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra.numpy import arrays

from dssc.cli.reading.dispatch import read_samples
from dssc.cli.reading.reader import ReadOptions


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("1,2\n3,4\n", {}),
        ("x;y\n1;2\n3;4\n", {}),
        ("1\t2\n\n3\t4\n", {}),
        ("1 2\n3   4 \n", {}),
        ("\ufeffx,y,z\n1,2,no\n3,4,no\n", {"drop": ["z"]}),
        ("1,2,0\n3,4,1\n", {"labels": "3"}),
        (",x,y\n0,1,2\n1,3,4\n", {"drop": [""]}),
        ("0,1\n1,2\n3,4\n", {"header": True}),
        ('"1","2"\r\n"3","4"\r\n', {}),
    ],
)
def test_text_tables(tmp_path, text, options):
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8", newline="")
    samples = read_samples(path, ReadOptions(**options))
    np.testing.assert_array_equal(samples.values, [[1, 2], [3, 4]])
    if "labels" in options:
        assert samples.labels.tolist() == ["0", "1"]


@given(
    arrays(
        np.float64,
        st.tuples(st.integers(1, 6), st.integers(1, 5)),
        elements=st.floats(allow_nan=False, allow_infinity=False),
    ),
    st.sampled_from([",", ";", "\t", " "]),
    st.booleans(),
)
def test_tables_come_back_to_the_last_digit(tmp_path_factory, X, delimiter, header):
    path = tmp_path_factory.mktemp("tables") / "t.csv"
    lines = [delimiter.join(map(repr, row)) for row in X.tolist()]
    if header:
        lines.insert(0, delimiter.join(f"c{place}" for place in range(X.shape[1])))
    path.write_text("\n".join(lines))
    np.testing.assert_array_equal(read_samples(path).values, X)
