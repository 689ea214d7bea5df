import gzip

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
        ("x;y\n1,0;2\n3;4,0\n", {}),
        ("1,0;2,0\n3,0;4,0\n", {}),
        ("height, cm;weight, kg\n1;2\n3;4\n", {}),
        ("height, cm;weight, kg\n1,0;2,0\n3;4\n", {}),
        ('"a;b;c",d\n1,2\n3,4\n', {}),
        ("1,0\t2,0\n3,0\t4,0\n", {"decimal": ","}),
        ("1|2\n3|4\n", {"sep": "|"}),
        ("1 2\n3\t4\n", {"sep": "space"}),
        ("1,0\t2\n3\t4\n", {"sep": "tab", "decimal": ","}),
        ("name,x,y\np,1,2\nq,3,4\n", {"id": "name"}),
    ],
)
def test_text_tables(tmp_path, text, options):
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8", newline="")
    samples = read_samples(path, ReadOptions(**options))
    np.testing.assert_array_equal(samples.values, [[1, 2], [3, 4]])
    if "labels" in options:
        assert samples.labels.tolist() == ["0", "1"]
    if "id" in options:
        assert samples.identification() == {"name": ["p", "q"]}


@pytest.mark.parametrize(
    ("encoding", "given"), [("utf-8-sig", None), ("utf-16", None), ("cp1252", "cp1252")]
)
@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
def test_encodings(tmp_path, encoding, given, ending):
    content = "größe;länge\r\n1,5;2\r\n3;4\r\n".encode(encoding)
    path = tmp_path / f"t{ending}"
    path.write_bytes(gzip.compress(content) if ending == ".csv.gz" else content)
    samples = read_samples(path, ReadOptions(encoding=given))
    np.testing.assert_array_equal(samples.values, [[1.5, 2], [3, 4]])
    assert samples.columns == ["größe", "länge"]


@given(
    arrays(
        np.float64,
        st.tuples(st.integers(1, 6), st.integers(1, 5)),
        elements=st.floats(allow_nan=False, allow_infinity=False),
    ),
    st.sampled_from([",", ";", "\t", " "]),
    st.sampled_from([".", ","]),
    st.booleans(),
)
def test_tables_come_back_to_the_last_digit(tmp_path_factory, X, delimiter, decimal, header):
    if decimal == delimiter:
        decimal = "."
    path = tmp_path_factory.mktemp("tables") / "t.csv"
    lines = [delimiter.join(map(repr, row)).replace(".", decimal) for row in X.tolist()]
    if header:
        lines.insert(0, delimiter.join(f"c{place}" for place in range(X.shape[1])))
    path.write_text("\n".join(lines), encoding="utf-8")
    # Between semicolons a decimal comma needs no option; a single column has no semicolons.
    is_found = delimiter == ";" and X.shape[1] > 1
    options = ReadOptions(decimal=None if decimal == "." or is_found else decimal)
    np.testing.assert_array_equal(read_samples(path, options).values, X)
