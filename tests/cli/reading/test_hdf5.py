import sys

import numpy as np
import pytest
from scipy import sparse

from dssc.cli.exits import CommandError
from dssc.cli.reading.dispatch import read_samples
from dssc.cli.reading.labels import read_labels
from dssc.cli.reading.reader import ReadOptions
from tests.cli.mutations import write_matlab_73

h5py = pytest.importorskip("h5py")
X = np.arange(12.0).reshape(4, 3) + 1


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize("ending", [".h5", ".hdf5"])
def test_arrays_by_their_path(tmp_path, ending):
    path = tmp_path / f"a{ending}"
    with h5py.File(path, "w") as file:
        file["train/X"] = X
        file["train/kind"] = np.array(["u", "v", "u", "v"], dtype=h5py.string_dtype())
        file["train/name"] = np.array([b"p", b"q", b"r", b"s"])
        file["settings"] = 3
    samples = read_samples(path, ReadOptions(labels="train/kind", id="train/name"))
    np.testing.assert_array_equal(samples.values, X)
    assert samples.labels.tolist() == ["u", "v", "u", "v"]
    assert samples.names == ["p", "q", "r", "s"]
    with pytest.raises(CommandError, match="did you mean 'train/kind'"):
        read_samples(path, ReadOptions(labels="train/kin"))


def test_with_a_key_nothing_else_is_read(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["X"] = X
        file.create_dataset("large", (1 << 20, 1 << 20), "f4", chunks=(1, 8))  # never written
    np.testing.assert_array_equal(read_samples(tmp_path / "a.h5", ReadOptions(key="X")).values, X)
    with pytest.raises(CommandError, match="expands to more than"):
        read_samples(tmp_path / "a.h5")


@pytest.mark.usefixtures("in_this_process")
def test_nothing_is_read_from_other_files(tmp_path):
    (tmp_path / "secret").write_bytes(X.tobytes())
    with h5py.File(tmp_path / "linked.h5", "w") as file:
        file.create_dataset("X", (4, 3), "f8", external=[(str(tmp_path / "secret"), 0, 96)])
    with pytest.raises(CommandError, match="/X lies in another file; copy its values"):
        read_samples(tmp_path / "linked.h5")


@pytest.mark.usefixtures("in_this_process")
def test_matlab_73(tmp_path):
    labels = np.array([0.0, 1, 0, 1])
    write_matlab_73(tmp_path / "a.mat", {"X": X, "y": labels[:, None]})
    samples = read_samples(tmp_path / "a.mat", ReadOptions(labels="y"))
    np.testing.assert_array_equal(samples.values, X)
    np.testing.assert_array_equal(read_labels("y", samples), labels)
    matrix = sparse.csc_array([[0, 2.0, 0], [3, 0, 0], [0, 0, 4], [5, 6, 0]])
    write_matlab_73(tmp_path / "s.mat", {"S": matrix})
    np.testing.assert_array_equal(
        read_samples(tmp_path / "s.mat").values.toarray(), matrix.todense()
    )


@pytest.mark.parametrize("ending", [".h5", ".h5ad"])
def test_without_h5py_the_extra_is_named(tmp_path, monkeypatch, ending):
    (tmp_path / f"a{ending}").write_bytes(b"\x89HDF")
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(CommandError, match=r"needs h5py: pip install 'dssc\[hdf5\]'"):
        read_samples(tmp_path / f"a{ending}")
