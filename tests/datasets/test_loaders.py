"""The loaders on the paper's data, and what all of them share."""

import re

import numpy as np
import pytest

from dssc.datasets import (
    fetch_coil,
    fetch_emnist_letters,
    fetch_mnist,
    fetch_orl,
    fetch_umist,
    fetch_yaleb,
)
from dssc.datasets.base import data_folder
from tests.datasets.originals import FETCH, write_npz, write_original

PAPER = [
    # loader, options, counts of the classes, shape of an image
    (fetch_yaleb, {}, [64] * 10 + [60, 59, 60, 63, 62, 63, 63] + [64] * 21, (48, 42)),
    (fetch_orl, {}, [10] * 40, (32, 32)),
    (fetch_coil, {}, [72] * 100, (32, 32, 3)),
    (fetch_coil, {"n_objects": 40}, [72] * 40, (32, 32, 3)),
    (fetch_emnist_letters, {}, [800] * 12 + [400], (28, 28)),
]


@pytest.mark.parametrize(("fetch", "options", "counts", "shape"), PAPER)
def test_the_papers_data_are_complete(fetch, options, counts, shape, data_home):
    bunch = fetch(data_home=data_home, download_if_missing=False, **options)
    assert bunch.images.shape == (sum(counts), *shape)
    assert bunch.images.dtype == np.uint8
    assert bunch.data.shape == (sum(counts), shape[0] * shape[1])
    assert bunch.data.dtype == np.float64
    assert bunch.target.dtype == np.int64
    np.testing.assert_array_equal(np.bincount(bunch.target), counts)
    for part in ("Source:", "Terms:", "Citation:", str(sum(counts))):
        assert part in bunch.DESCR


def test_umist_has_images_and_the_authors_features(data_home):
    faces = fetch_umist(data_home=data_home)
    features = fetch_umist(data_home=data_home, scattered=True)
    assert faces.images.shape == (575, 32, 32)
    assert features.data.shape == (575, 500)
    assert "images" not in features
    np.testing.assert_array_equal(faces.target, features.target)
    assert len(np.unique(faces.target)) == 20


def test_mnist_is_complete(data_home):
    X, y = fetch_mnist(data_home=data_home, return_X_y=True)
    assert X.shape == (70_000, 784)
    np.testing.assert_array_equal(y[:5], [5, 0, 4, 1, 9])
    np.testing.assert_array_equal(
        np.bincount(y), [6903, 7877, 6990, 7141, 6824, 6313, 6876, 7293, 6825, 6958]
    )


def test_a_part_of_emnist_says_so(data_home):
    bunch = fetch_emnist_letters(data_home=data_home)
    assert "the first 10,000 test images only" in bunch.DESCR


def test_coil_40_describes_itself(data_home):
    bunch = fetch_coil(n_objects=40, data_home=data_home)
    assert "the first 40 objects" in bunch.DESCR
    assert "2880 samples in 40 classes" in bunch.DESCR


@pytest.mark.parametrize("name", FETCH)
def test_rows_are_the_images(name, small, tmp_path):
    write_original(name, tmp_path)
    bunch = FETCH[name](data_home=tmp_path)
    X, y = FETCH[name](data_home=tmp_path, return_X_y=True)
    np.testing.assert_array_equal(X, bunch.data)
    np.testing.assert_array_equal(y, bunch.target)
    if name != "coil":
        np.testing.assert_array_equal(X, bunch.images.reshape(4, -1))


def test_colour_is_weighed_and_not_rounded(small, tmp_path):
    images = write_npz(tmp_path, "coil100")
    gray, _ = fetch_coil(data_home=tmp_path, return_X_y=True)
    color, _ = fetch_coil(data_home=tmp_path, return_X_y=True, color=True)
    red, green, blue = np.moveaxis(images.astype(float), 3, 0)
    expected = 0.299 * red + 0.587 * green + 0.114 * blue
    np.testing.assert_allclose(gray, expected.reshape(4, -1))
    np.testing.assert_array_equal(color, images.reshape(4, -1))


@pytest.mark.parametrize("n_objects", [0, 20, 101])
def test_coil_comes_in_two_sizes(n_objects, tmp_path):
    with pytest.raises(ValueError, match=f"n_objects={n_objects} must be 40 or 100"):
        fetch_coil(n_objects=n_objects, data_home=tmp_path)


@pytest.mark.parametrize("name", FETCH)
def test_the_prepared_file_comes_before_the_original(name, small, tmp_path):
    prepared = {"coil": "coil100", "emnist": "emnist_letters"}.get(name, name)
    write_original(name, tmp_path)
    images = write_npz(tmp_path, prepared)
    np.testing.assert_array_equal(FETCH[name](data_home=tmp_path).images, images)


def test_a_part_does_not_hide_the_whole(small, tmp_path):
    images, _ = write_original("emnist", tmp_path)
    write_npz(tmp_path, "emnist_letters_part", images=images[::-1])
    np.testing.assert_array_equal(fetch_emnist_letters(data_home=tmp_path).images, images)


@pytest.mark.parametrize("name", FETCH)
def test_an_empty_folder_is_explained_and_left_empty(name, tmp_path):
    with pytest.raises(FileNotFoundError, match=re.escape(str(tmp_path))) as caught:
        FETCH[name](data_home=tmp_path, download_if_missing=False)
    text = str(caught.value)
    assert "://" in text
    assert "put it there" in text
    assert "DSSC_DATA" in text
    assert ("download_if_missing=True" in text) == (name != "yaleb")
    assert not list(tmp_path.iterdir())


def test_what_has_no_address_is_not_downloaded(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"get CroppedYale\.zip from"):
        fetch_yaleb(data_home=tmp_path)
    with pytest.raises(FileNotFoundError, match=r"umist_scatter\.mat"):
        fetch_umist(data_home=tmp_path, scattered=True)


def test_where_data_lie(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("DSSC_DATA", str(tmp_path / "data"))
    assert data_folder(tmp_path / "named") == tmp_path / "named"
    assert data_folder("~/named") == tmp_path / "home" / "named"
    assert data_folder() == tmp_path / "data"
    monkeypatch.setenv("DSSC_DATA", "")
    assert data_folder() == tmp_path / "cache" / "dssc"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert data_folder() == tmp_path / "home" / ".cache" / "dssc"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"images": np.zeros((3, 32, 32), np.uint8)}, r"'images' of shape \(3, 32, 32\), not \(4,"),
        ({"images": np.zeros((4, 32, 31), np.uint8)}, r"'images' of shape"),
        ({"images": np.zeros((4, 32, 32))}, "images of type float64"),
        ({"images": np.array([None] * 4)}, "'images' of type object"),
        ({"labels": np.zeros(3, np.uint8)}, r"'labels' of shape \(3,\)"),
        ({"labels": np.zeros(4)}, "labels of type float64"),
        ({"labels": np.zeros(4, np.uint8)}, "1 labels from 0 to 0, not 2 from 0 to 1"),
        ({"labels": np.array([0, 0, 2, 2])}, "2 labels from 0 to 2"),
        ({"labels": np.array([0, 0, -1, -1])}, "2 labels from -1 to 0"),
        ({"labels": None}, r"lacks \['labels'\]: it holds \['images'\]"),
    ],
)
def test_wrong_contents_are_explained(changes, message, small, tmp_path):
    write_npz(tmp_path, "orl", **changes)
    with pytest.raises(ValueError, match=rf"orl\.npz holds {message}|orl\.npz {message}"):
        fetch_orl(data_home=tmp_path)


def test_features_must_be_finite(small, tmp_path):
    features = np.ones((4, 500), dtype=np.float32)
    features[1, 2] = np.nan
    write_npz(tmp_path, "umist_scattered", features=features)
    with pytest.raises(
        ValueError, match=r"umist_scattered\.npz holds features that are not finite"
    ):
        fetch_umist(data_home=tmp_path, scattered=True)


def test_nothing_is_written_beside_the_data(small, tmp_path):
    for name in FETCH:
        write_original(name, tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    for fetch in FETCH.values():
        fetch(data_home=tmp_path)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before
