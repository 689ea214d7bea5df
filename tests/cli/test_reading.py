import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra.numpy import arrays
from scipy import io, sparse

from dssc.cli.exits import CommandError
from dssc.cli.reading import read_labels, read_samples
from tests.cli.conftest import write_images

X = np.arange(12.0).reshape(4, 3) + 1


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
    samples = read_samples(path, **options)
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


def test_parquet(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = arrow.table({"a": [1, 3], "b": [2.0, None], "c": ["u", "v"]})
    parquet.write_table(table, tmp_path / "t.parquet")
    samples = read_samples(tmp_path / "t.parquet", labels="c")
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


def test_numpy_and_matlab_files(tmp_path):
    labels = np.array([0, 1, 0, 1])
    np.save(tmp_path / "a.npy", X)
    np.savez(tmp_path / "b.npz", X=X, y=labels)
    sparse.save_npz(tmp_path / "c.npz", sparse.csr_array(X))
    io.savemat(tmp_path / "d.mat", {"Y": X.T, "y": labels[:, None]})
    np.testing.assert_array_equal(read_samples(tmp_path / "a.npy").values, X)
    found = read_samples(tmp_path / "b.npz", labels="y")
    np.testing.assert_array_equal(found.values, X)
    np.testing.assert_array_equal(read_labels("y", found), labels)
    np.testing.assert_array_equal(read_samples(tmp_path / "c.npz").values.toarray(), X)
    found = read_samples(tmp_path / "d.mat", labels="y", transpose=True)
    np.testing.assert_array_equal(found.values, X)
    np.testing.assert_array_equal(read_labels("y", found), labels)


def test_several_matrices_need_a_key(tmp_path):
    np.savez(tmp_path / "b.npz", one=X, two=2 * X)
    with pytest.raises(
        CommandError, match=r"2 candidates .* --key: 'one' \(4, 3\), 'two' \(4, 3\)"
    ):
        read_samples(tmp_path / "b.npz")
    np.testing.assert_array_equal(read_samples(tmp_path / "b.npz", key="two").values, 2 * X)


def test_a_stack_of_images_is_read_as_images(tmp_path):
    np.save(tmp_path / "i.npy", np.ones((5, 4, 3), dtype=np.uint8))
    assert read_samples(tmp_path / "i.npy").are_images


def test_images_of_a_folder(tmp_path):
    gray = np.arange(12).reshape(3, 4)
    colour = np.stack([gray] * 3, axis=2)
    write_images(tmp_path, [gray, colour], ["b/10.png", "b/9.png"])
    (tmp_path / "notes.txt").write_text("not an image")
    samples = read_samples(tmp_path)
    assert samples.names == ["b/9.png", "b/10.png"]
    np.testing.assert_array_equal(samples.values, [colour, colour])


def test_images_of_several_sizes_need_a_size(tmp_path):
    write_images(tmp_path, [np.ones((3, 4)), np.ones((5, 5))], ["a.png", "b.png"])
    with pytest.raises(CommandError, match=r"b\.png is 5 x 5 but a\.png is 3 x 4; give --size 3x4"):
        read_samples(tmp_path)
    assert read_samples(tmp_path, size=(6, 6)).values.shape == (2, 6, 6)


@pytest.mark.parametrize(
    ("name", "content"),
    [("y.csv", "index,cluster\n0,5\n1,5\n2,7\n3,7\n"), ("y.txt", "5\n5\n7\n7\n")],
)
def test_labels_from_a_file_of_their_own(tmp_path, name, content):
    np.save(tmp_path / "a.npy", X)
    (tmp_path / name).write_text(content)
    labels = read_labels(str(tmp_path / name), read_samples(tmp_path / "a.npy"))
    assert labels.tolist() == ["5", "5", "7", "7"]


def test_words_as_labels_may_have_a_heading(tmp_path):
    np.save(tmp_path / "a.npy", X)
    (tmp_path / "y.csv").write_text("kind\nu\nu\nv\nv\n")
    labels = read_labels(str(tmp_path / "y.csv"), read_samples(tmp_path / "a.npy"))
    assert labels.tolist() == ["u", "u", "v", "v"]
