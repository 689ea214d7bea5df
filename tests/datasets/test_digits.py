import gzip
import re
import struct
import zipfile

import numpy as np
import pytest

from dssc.datasets import fetch_emnist_letters, fetch_mnist
from tests.datasets.originals import (
    emnist_files,
    idx,
    mnist_files,
    random_images,
    write_files,
    write_gz,
    write_zip,
)


@pytest.mark.parametrize("write", [write_files, write_gz])
def test_mnist_is_training_then_test(write, small, tmp_path):
    files, images, labels = mnist_files()
    write(tmp_path, files)
    bunch = fetch_mnist(data_home=tmp_path)
    np.testing.assert_array_equal(bunch.images, images)
    np.testing.assert_array_equal(bunch.target, labels)


@pytest.mark.parametrize("form", ["idx", "gz", "zip"])
def test_emnist_is_turned_upright(form, small, tmp_path):
    files, images, labels = emnist_files()
    if form == "idx":
        write_files(tmp_path, files)
    elif form == "gz":
        write_gz(tmp_path, files)
    else:
        packed = {f"{name}.gz": gzip.compress(content) for name, content in files.items()}
        write_zip(tmp_path / "gzip.zip", packed, "gzip/")
    bunch = fetch_emnist_letters(data_home=tmp_path)
    np.testing.assert_array_equal(bunch.images, images)
    np.testing.assert_array_equal(bunch.target, labels)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("train-images", b"", "starts with the bytes ''"),
        ("train-images", idx(np.zeros(3)), "starts with the bytes '00000801', not '00000803'"),
        ("train-images", bytes([0, 0, 13, 3]), "'00000d03'"),
        ("train-images", bytes([0, 0, 8, 3, 0, 0]), "cannot be read (error: unpack requires"),
        ("train-images", idx(random_images(3, 28, 27)), "declares the shape (3, 28, 27)"),
        (
            "train-images",
            bytes([0, 0, 8, 3]) + struct.pack(">3I", 2**32 - 1, 28, 28),
            "declares the shape (4294967295, 28, 28), expected at most (4, 28, 28)",
        ),
        ("train-images", idx(random_images(3, 28, 28))[:-1], "2352 bytes of data and holds 2351"),
        ("train-images", idx(random_images(3, 28, 28)) + b"0", "2352 bytes of data and holds more"),
        ("train-images", idx(random_images(2, 28, 28)), "2 images, 3 labels"),
        ("train-labels", idx(np.array([1, 7, 1])), "3 labels from 0 to 7, not 2 from 0 to 1"),
    ],
)
@pytest.mark.parametrize("write", [write_files, write_gz])
def test_wrong_files_are_explained(name, content, message, write, small, tmp_path):
    files = mnist_files()[0]
    write(tmp_path, files | {key: content for key in files if key.startswith(name)})
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        fetch_mnist(data_home=tmp_path)
    assert "train-images-idx3-ubyte" in str(caught.value) or name in str(caught.value)


def test_compression_cannot_blow_up(small, tmp_path):
    files = mnist_files()[0]
    files["train-images-idx3-ubyte"] += bytes(10**8)
    write_gz(tmp_path, files)
    with pytest.raises(ValueError, match=r"ubyte\.gz declares 2352 bytes of data and holds more"):
        fetch_mnist(data_home=tmp_path)


def test_an_archive_without_the_letters_is_explained(small, tmp_path):
    write_zip(tmp_path / "gzip.zip", {"gzip/emnist-digits-train-images-idx3-ubyte.gz": b""})
    with pytest.raises(ValueError, match=r"gzip\.zip cannot be read \(KeyError.*emnist-letters"):
        fetch_emnist_letters(data_home=tmp_path)


def test_labels_of_emnist_start_at_one(small, tmp_path):
    files = emnist_files()[0]
    files["emnist-letters-train-labels-idx1-ubyte"] = idx(np.array([0, 1, 2]))
    write_files(tmp_path, files)
    with pytest.raises(ValueError, match="3 labels from -1 to 1"):
        fetch_emnist_letters(data_home=tmp_path)


def test_some_files_are_not_enough(small, tmp_path):
    files = mnist_files()[0]
    del files["t10k-labels-idx1-ubyte"]
    write_files(tmp_path, files)
    with pytest.raises(FileNotFoundError, match="MNIST handwritten digits: not found"):
        fetch_mnist(data_home=tmp_path, download_if_missing=False)


def test_unknown_compression_is_explained(small, tmp_path):
    path = tmp_path / "gzip.zip"
    write_zip(path, {f"gzip/{name}.gz": b"" for name in emnist_files()[0]})
    with zipfile.ZipFile(path) as archive:
        start = archive.start_dir
    content = bytearray(path.read_bytes())
    content[start + 10] = 99
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"gzip\.zip cannot be read \(NotImplementedError"):
        fetch_emnist_letters(data_home=tmp_path)
