import numpy as np
import pytest

from dssc import load_prepared


def write(folder, name="toy", **arrays):
    np.savez_compressed(folder / f"{name}.npz", **arrays)


def test_gray_images_become_rows(tmp_path, rng):
    images = rng.integers(0, 256, (6, 4, 3), dtype=np.uint8)
    write(tmp_path, images=images, labels=np.arange(6, dtype=np.uint8))
    bunch = load_prepared("toy", data_home=tmp_path)
    np.testing.assert_array_equal(bunch.data, images.reshape(6, 12))
    np.testing.assert_array_equal(bunch.target, range(6))
    np.testing.assert_array_equal(bunch.images, images)
    assert bunch.data.dtype == np.float64


def test_colour_is_weighed_and_not_rounded(tmp_path):
    images = np.array([[[[10, 20, 30]]]], dtype=np.uint8)
    write(tmp_path, images=images, labels=np.zeros(1, dtype=np.uint8))
    expected = 0.299 * 10 + 0.587 * 20 + 0.114 * 30
    assert load_prepared("toy", data_home=tmp_path).data.item() == pytest.approx(expected)


def test_features_and_the_environment_variable(tmp_path, monkeypatch):
    monkeypatch.setenv("DSSC_DATA", str(tmp_path))
    write(tmp_path, features=np.ones((3, 2), dtype=np.float32), labels=np.zeros(3))
    bunch = load_prepared("toy")
    assert bunch.data.shape == (3, 2)
    assert "images" not in bunch


def test_missing_files_and_folders_are_explained(tmp_path, monkeypatch):
    monkeypatch.delenv("DSSC_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match="DSSC_DATA"):
        load_prepared("toy")
    with pytest.raises(FileNotFoundError, match=r"toy\.npz does not exist"):
        load_prepared("toy", data_home=tmp_path)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"images": np.zeros((3, 2, 2))}, r"must hold 'labels'.*\['images'\]"),
        ({"labels": np.zeros(3)}, "must hold"),
        ({"features": np.zeros((3, 2)), "labels": np.zeros(4)}, "3 features but 4 labels"),
        ({"images": np.array([None]), "labels": np.zeros(1)}, "not a readable NumPy archive"),
    ],
)
def test_wrong_contents_are_explained(arrays, message, tmp_path):
    write(tmp_path, **arrays)
    with pytest.raises(ValueError, match=message):
        load_prepared("toy", data_home=tmp_path)


@pytest.mark.parametrize("damage", ["empty", "truncated", "noise", "flipped"])
def test_damaged_files_are_explained(damage, tmp_path, rng):
    write(tmp_path, images=rng.integers(0, 256, (50, 8, 8), dtype=np.uint8), labels=np.zeros(50))
    path = tmp_path / "toy.npz"
    content = bytearray(path.read_bytes())
    if damage == "flipped":
        content[300] ^= 0xFF
    damaged = {"empty": b"", "truncated": content[:500], "noise": b"\0" * 99}
    path.write_bytes(damaged.get(damage, content))
    with pytest.raises(ValueError, match="not a readable NumPy archive"):
        load_prepared("toy", data_home=tmp_path)
