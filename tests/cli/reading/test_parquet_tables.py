import numpy as np
import pytest

from dssc.cli.exits import CommandError
from dssc.cli.reading.dispatch import read_samples
from dssc.cli.reading.reader import ReadOptions


def test_parquet(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = arrow.table({"a": [1, 3], "b": [2.0, None], "c": ["u", "v"]})
    parquet.write_table(table, tmp_path / "t.parquet")
    samples = read_samples(tmp_path / "t.parquet", ReadOptions(labels="c"))
    np.testing.assert_array_equal(samples.values, [[1, 2], [3, np.nan]])
    assert samples.labels.tolist() == ["u", "v"]
    with pytest.raises(CommandError, match="column 'c' holds string, not numbers; leave it out"):
        read_samples(tmp_path / "t.parquet")


def test_the_index_of_a_data_frame_is_no_feature(tmp_path):
    pytest.importorskip("pyarrow")
    pd = pytest.importorskip("pandas")
    pd.DataFrame({"a": [1.0, 3.0], "b": [2.0, 4.0]}, index=[10, 20]).to_parquet(
        tmp_path / "t.parquet"
    )
    np.testing.assert_array_equal(read_samples(tmp_path / "t.parquet").values, [[1, 2], [3, 4]])


def test_parquet_without_pyarrow_names_the_extra(tmp_path, monkeypatch):
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(CommandError, match=r"pip install 'dssc\[tables\]'"):
        read_samples(tmp_path / "t.parquet")
