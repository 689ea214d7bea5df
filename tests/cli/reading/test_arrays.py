import numpy as np
import pytest
from scipy import io, sparse

from dssc.cli.exits import CommandError
from dssc.cli.reading.dispatch import read_samples
from dssc.cli.reading.labels import read_labels
from dssc.cli.reading.reader import ReadOptions

X = np.arange(12.0).reshape(4, 3) + 1


def test_numpy_and_matlab_files(tmp_path):
    labels = np.array([0, 1, 0, 1])
    np.save(tmp_path / "a.npy", X)
    np.savez(tmp_path / "b.npz", X=X, y=labels)
    sparse.save_npz(tmp_path / "c.npz", sparse.csr_array(X))
    io.savemat(tmp_path / "d.mat", {"Y": X.T, "y": labels[:, None]})
    np.testing.assert_array_equal(read_samples(tmp_path / "a.npy").values, X)
    samples = read_samples(tmp_path / "b.npz", ReadOptions(labels="y"))
    np.testing.assert_array_equal(samples.values, X)
    np.testing.assert_array_equal(read_labels("y", samples), labels)
    np.testing.assert_array_equal(read_samples(tmp_path / "c.npz").values.toarray(), X)
    samples = read_samples(tmp_path / "d.mat", ReadOptions(labels="y", transpose=True))
    np.testing.assert_array_equal(samples.values, X)
    np.testing.assert_array_equal(read_labels("y", samples), labels)


def test_several_matrices_need_a_key(tmp_path):
    np.savez(tmp_path / "b.npz", one=X, two=2 * X)
    with pytest.raises(
        CommandError, match=r"2 candidates .* --key: 'one' \(4, 3\), 'two' \(4, 3\)"
    ):
        read_samples(tmp_path / "b.npz")
    samples = read_samples(tmp_path / "b.npz", ReadOptions(key="two"))
    np.testing.assert_array_equal(samples.values, 2 * X)


def test_a_stack_of_images_is_read_as_images(tmp_path):
    np.save(tmp_path / "i.npy", np.ones((5, 4, 3), dtype=np.uint8))
    assert read_samples(tmp_path / "i.npy").are_images
