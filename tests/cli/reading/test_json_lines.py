import gzip
import json

import numpy as np
import pytest

from dssc.cli.exits import CommandError
from dssc.cli.reading.dispatch import read_samples
from dssc.cli.reading.reader import ReadOptions


def write(path, *values):
    text = "\n".join(value if isinstance(value, str) else json.dumps(value) for value in values)
    path.write_text(text, encoding="utf-8")
    return path


def test_objects_with_an_embedding(tmp_path):
    path = write(
        tmp_path / "t.jsonl",
        {"doc": "a", "vector": [1, 2.5], "kind": "u", "year": 3},
        "",
        {"year": None, "doc": "b", "vector": [3, 4], "kind": "v"},
    )
    samples = read_samples(path, ReadOptions(id="doc", labels="kind"))
    np.testing.assert_array_equal(samples.values, [[1, 2.5, 3], [3, 4, np.nan]])
    assert samples.columns == ["vector[0]", "vector[1]", "year"]
    assert samples.identification() == {"doc": ["a", "b"]}
    assert samples.labels.tolist() == ["u", "v"]
    assert samples.lines == [1, 3]


def test_lists_compressed(tmp_path):
    (tmp_path / "t.jsonl.gz").write_bytes(gzip.compress(b"[1, 2]\n[3, 4]\n"))
    np.testing.assert_array_equal(read_samples(tmp_path / "t.jsonl.gz").values, [[1, 2], [3, 4]])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (({"a": 1}, {"b": 1}), r"t\.jsonl, line 2: 'b' is not in the first line"),
        (
            ({"a": [1]}, {"a": [1, 2]}),
            "line 2: 'a' has a list of 2 where the first line has a list",
        ),
        (({"a": [1]}, {"a": 1}), "line 2: 'a' has one value where the first line has a list of 1"),
        (({"a": [1]}, {"a": ["x"]}), r"line 2, column 'a\[0\]': 'x' is not a number"),
        (({"a": 1}, {"a": 10**400}), "line 2, column 'a': 1000.* is not a number"),
        ((3,), "line 1: neither an object nor a list of numbers"),
        (("[" * 100_000,), "line 1: not JSON: (maximum recursion|Stack overflow)"),
        ((), "is empty"),
    ],
)
def test_lines_that_cannot_be_used(tmp_path, values, message):
    with pytest.raises(CommandError, match=message):
        read_samples(write(tmp_path / "t.jsonl", *values))
