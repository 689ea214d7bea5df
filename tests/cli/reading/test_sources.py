import gzip
import io
import sys

import numpy as np
import pytest
from scipy import sparse

from dssc.cli.exits import CommandError
from dssc.cli.reading.dispatch import read_sources
from dssc.cli.reading.reader import ReadOptions
from dssc.cli.reading.sources import STANDARD, find_sources
from tests.cli.conftest import write_images
from tests.cli.mutations import write_matlab_73, written

X = np.arange(6.0).reshape(2, 3) + 1


@pytest.fixture
def feed(monkeypatch):
    """Return a function that gives bytes to standard input."""

    def feed(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content), "utf-8"))

    return feed


def test_patterns_in_natural_order(folder):
    for name in ("part10.csv", "part2.csv", "other.csv", "[x].csv"):
        (folder / name).write_text("1,2\n", encoding="utf-8")
    paths = [folder / "part*.csv"]
    assert [path.name for path in find_sources(paths)] == ["part2.csv", "part10.csv"]
    assert find_sources([folder / "[x].csv"]) == [folder / "[x].csv"]  # it exists


def test_several_tables_are_one(tmp_path):
    (tmp_path / "a.csv").write_text("x,y,kind\n1,2,u\n3,4,v\n", encoding="utf-8")
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(b"x,y,kind\n5,6,u\n\n7,nan,v\n"))
    samples = read_sources([tmp_path / "a.csv", tmp_path / "b.csv.gz"], ReadOptions(labels="kind"))
    np.testing.assert_array_equal(samples.values, [[1, 2], [3, 4], [5, 6], [7, np.nan]])
    assert samples.labels.tolist() == ["u", "v", "u", "v"]
    assert samples.identification() == {
        "file": [str(tmp_path / name) for name in ("a.csv", "a.csv", "b.csv.gz", "b.csv.gz")],
        "index": [0, 1, 0, 1],
    }
    with pytest.raises(CommandError, match=r"NaN or infinite values: lines .*b\.csv\.gz 4;"):
        samples.check()


def test_several_sparse_matrices(tmp_path):
    for name in "ab":
        sparse.save_npz(tmp_path / f"{name}.npz", sparse.csr_array(X))
    samples = read_sources([tmp_path / "a.npz", tmp_path / "b.npz"])
    np.testing.assert_array_equal(samples.values.toarray(), [*X, *X])
    np.save(tmp_path / "c.npy", X)
    with pytest.raises(CommandError, match="are not both sparse, or both dense"):
        read_sources([tmp_path / "a.npz", tmp_path / "c.npy"])


def test_image_files_and_folders(folder):
    write_images(folder, np.ones((3, 4, 4)), ["cat/1.png", "dog/1.png", "dog/2.png"])
    sources = find_sources([folder / "cat/*.png", folder / "dog"])
    samples = read_sources(sources, ReadOptions(labels="folders"))
    assert samples.labels.tolist() == ["cat", "dog", "dog"]
    assert [name[-9:] for name in samples.names] == ["cat/1.png", "dog/1.png", "dog/2.png"]


def contents():
    """Return the same matrix as the content of files of several formats."""
    yield "csv", b"1,2,3\n4,5,6\n"
    yield "csv.gz", gzip.compress(b"1,2,3\n4,5,6\n")
    yield "jsonl", b"[1, 2, 3]\n[4, 5, 6]\n"
    yield "npy", written(np.save, X)
    yield "npz", written(np.savez, X=X)
    yield "mat", written(write_matlab_73, {"X": X})


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize(
    ("kind", "content"), list(contents()), ids=[kind for kind, _ in contents()]
)
def test_standard_input(feed, kind, content):
    feed(content)
    samples = read_sources([STANDARD])
    np.testing.assert_array_equal(samples.values, X)
    assert samples.source == "standard input"


@pytest.mark.usefixtures("in_this_process")
def test_formats_of_other_packages_on_standard_input(feed):
    arrow, openpyxl = pytest.importorskip("pyarrow"), pytest.importorskip("openpyxl")
    from pyarrow import feather, parquet

    table = arrow.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]})
    book = openpyxl.Workbook()
    for row in X.tolist():
        book.active.append(row)
    contents = [
        written(lambda file: parquet.write_table(table, file)),
        written(lambda file: feather.write_feather(table, file)),
        written(book.save),
    ]
    for content in contents:
        feed(content)
        np.testing.assert_array_equal(read_sources([STANDARD]).values, X)


def test_errors_name_standard_input(feed):
    feed(b"1,2\n3,x\n")
    with pytest.raises(CommandError, match=r"^standard input, line 2, column '2': 'x' is not"):
        read_sources([STANDARD])
    feed(b"")
    with pytest.raises(CommandError, match="standard input is empty"):
        read_sources([STANDARD])
