import sys

import numpy as np
import pytest

from dssc.datasets import fetch_coil
from dssc.images import resize_images
from tests.datasets.originals import coil_files, png, random_images, write_files, write_zip


@pytest.mark.parametrize("form", ["folder", "zip"])
def test_objects_and_angles_are_in_order_of_numbers(form, small, tmp_path):
    files, images, labels = coil_files()
    if form == "folder":
        write_files(tmp_path / "coil-100", files)
    else:
        write_zip(tmp_path / "coil-100.zip", files, "coil-100/")
    bunch = fetch_coil(data_home=tmp_path)
    expected = np.rint(resize_images(images, (32, 32)))
    np.testing.assert_array_equal(bunch.images, expected)
    np.testing.assert_array_equal(bunch.target, labels)
    assert bunch.images.dtype == np.uint8


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (lambda: png(random_images(64, 128, 3)), "is 64 x 128 in mode RGB, not 128 x 128"),
        (lambda: png(random_images(128, 128, 3), "L"), "is 128 x 128 in mode L"),
        (lambda: png(random_images(128, 128, 3))[:2000], "cannot be read"),
        (lambda: b"GIF89a", "cannot be read"),
        (lambda: bytes(2**18 + 1), "is larger than 262144 bytes"),
    ],
)
def test_wrong_images_are_explained(content, message, small, tmp_path):
    write_files(tmp_path / "coil-100", coil_files()[0] | {"obj2__5.png": content()})
    with pytest.raises(ValueError, match=rf"obj2__5\.png {message}"):
        fetch_coil(data_home=tmp_path)


def test_pillow_is_asked_for_by_the_name_of_its_extra(small, tmp_path, monkeypatch):
    write_files(tmp_path / "coil-100", coil_files()[0])
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(ImportError, match=r"pip install 'dssc\[images\]'"):
        fetch_coil(data_home=tmp_path)
