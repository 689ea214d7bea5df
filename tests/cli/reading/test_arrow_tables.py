import numpy as np
import pytest

from dssc.cli.exits import CommandError
from dssc.cli.reading.dispatch import read_samples
from dssc.cli.reading.reader import ReadOptions

pytestmark = pytest.mark.usefixtures("in_this_process")
ENDINGS = (".parquet", ".feather")


def write(table, path):
    from pyarrow import feather, parquet

    writer = parquet.write_table if path.suffix == ".parquet" else feather.write_feather
    writer(table, str(path))


@pytest.fixture
def arrow():
    return pytest.importorskip("pyarrow")


@pytest.mark.parametrize("ending", ENDINGS)
def test_tables(tmp_path, arrow, ending):
    path = tmp_path / f"t{ending}"
    write(arrow.table({"a": [1, 3], "b": [2.0, None], "c": ["u", "v"], "d": ["p", "q"]}), path)
    samples = read_samples(path, ReadOptions(labels="c", id="d"))
    np.testing.assert_array_equal(samples.values, [[1, 2], [3, np.nan]])
    assert samples.labels.tolist() == ["u", "v"]
    assert samples.identification() == {"d": ["p", "q"]}
    with pytest.raises(CommandError, match="column 'c' holds string, not numbers; leave it out"):
        read_samples(path)


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_column_of_lists_is_a_column_per_number(tmp_path, arrow, ending):
    path = tmp_path / f"t{ending}"
    vectors = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    for kind in (arrow.list_(arrow.float32()), arrow.list_(arrow.float32(), 3)):
        write(arrow.table({"a": [0, 9], "v": arrow.array(vectors, kind)}), path)
        samples = read_samples(path)
        np.testing.assert_array_equal(samples.values, [[0, 1, 2, 3], [9, 4, 5, 6]])
        assert samples.columns == ["a", "v[0]", "v[1]", "v[2]"]
    write(arrow.table({"v": [[1.0], [1.0, 2.0]]}), path)
    with pytest.raises(CommandError, match="the lists in the column 'v' differ in length"):
        read_samples(path)


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
