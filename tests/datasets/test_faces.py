import re

import numpy as np
import pytest

from dssc.datasets import fetch_orl, fetch_umist, fetch_yaleb
from dssc.images import resize_images
from tests.datasets.originals import (
    orl_files,
    pgm,
    random_images,
    write_files,
    write_umist,
    write_zip,
    yaleb_files,
)


def reduced(images, *shape):
    return np.rint(resize_images(images, shape)).astype(np.uint8)


@pytest.mark.parametrize("form", ["folder", "zip"])
def test_yaleb_leaves_out_bad_and_ambient_images(form, small, tmp_path):
    files, images, labels = yaleb_files()
    if form == "folder":
        write_files(tmp_path / "CroppedYale", files)
    else:
        write_zip(tmp_path / "CroppedYale.zip", files, "CroppedYale/")
    bunch = fetch_yaleb(data_home=tmp_path)
    np.testing.assert_array_equal(bunch.images, reduced(images, 48, 42))
    np.testing.assert_array_equal(bunch.target, labels)


@pytest.mark.parametrize("form", [".", "orl_faces", "att_faces", "zip", "zip with a folder"])
def test_orl_in_every_form_it_comes_in(form, small, tmp_path):
    files, images, labels = orl_files()
    if form.startswith("zip"):
        write_zip(tmp_path / "att_faces.zip", files, "orl_faces/" if "folder" in form else "")
    else:
        write_files(tmp_path / form, files)
    bunch = fetch_orl(data_home=tmp_path)
    np.testing.assert_array_equal(bunch.images, reduced(images, 32, 32))
    np.testing.assert_array_equal(bunch.target, labels)


def test_umist_reads_the_cells(small, tmp_path):
    images, labels = write_umist(tmp_path)
    bunch = fetch_umist(data_home=tmp_path)
    np.testing.assert_array_equal(bunch.images, reduced(images, 32, 32))
    np.testing.assert_array_equal(bunch.target, labels)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"s1/2.pgm": None}, "images of shape (3, 32, 32), not (4, 32, 32)"),
        ({"s10/2.pgm": pgm(random_images(112, 92))}, "images of shape (5, 32, 32)"),
        ({"s1/2.pgm": pgm(random_images(92, 112))}, "s1/2.pgm is 92 x 112"),
        ({"s1/2.pgm": pgm(random_images(112, 92))[:-1]}, "truncated: 10303 of 10304 pixels"),
        ({"s1/2.pgm": b"P2 92 112 255 " + bytes(10304)}, "s1/2.pgm is not a binary PGM"),
        ({"s1/2.pgm": b"P5 92 112 65535\n" + bytes(20608)}, "gray values up to 65535"),
        ({"s1/2.pgm": bytes(2**16 + 1)}, "s1/2.pgm is larger than 65536 bytes"),
        ({"s1/02.pgm": pgm(random_images(112, 92))}, "the same image twice"),
    ],
)
def test_wrong_images_are_explained(change, message, small, tmp_path):
    files = {name: value for name, value in (orl_files()[0] | change).items() if value is not None}
    write_files(tmp_path, files)
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        fetch_orl(data_home=tmp_path)
    assert str(tmp_path) in str(caught.value)


@pytest.mark.parametrize("name", ["../s3/1.pgm", "/s3/1.pgm", "a/../../b", "C:/b", "..\\b"])
def test_archives_cannot_name_files_outside(name, small, tmp_path):
    write_zip(tmp_path / "att_faces.zip", orl_files()[0] | {name: b""})
    with pytest.raises(ValueError, match=r"att_faces\.zip holds a file with the unsafe name"):
        fetch_orl(data_home=tmp_path)


def test_archives_cannot_blow_up(small, tmp_path):
    write_zip(tmp_path / "att_faces.zip", orl_files()[0] | {"s3/1.pgm": bytes(10**7)})
    with pytest.raises(ValueError, match=r"att_faces\.zip/s3/1\.pgm is larger than 65536"):
        fetch_orl(data_home=tmp_path)


def test_an_empty_distribution_is_explained(tmp_path):
    (tmp_path / "CroppedYale").mkdir()
    with pytest.raises(ValueError, match=r"CroppedYale holds no file named like yaleB\*/"):
        fetch_yaleb(data_home=tmp_path)


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([random_images(112, 92, 4)], "must hold 2 cells in 'facedat', not 1"),
        ([random_images(112, 92, 1), random_images(112, 92, 2)], "images of shape (3, 32, 32)"),
        (
            [random_images(112, 92, 1), random_images(92, 112, 3)],
            "images of 92 x 112, not 112 x 92",
        ),
        ([random_images(112, 92, 1), np.zeros((112, 92, 3))], "stacks of 8-bit images"),
        ([random_images(112, 92, 1), "faces"], "stacks of 8-bit images"),
    ],
)
def test_wrong_cells_are_explained(cells, message, small, tmp_path):
    write_umist(tmp_path, cells)
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        fetch_umist(data_home=tmp_path)
    assert "umist_cropped.mat" in str(caught.value)


def test_cells_cannot_blow_up(small, tmp_path):
    write_umist(tmp_path, [np.zeros((112, 92, 1000), np.uint8)] * 2)
    with pytest.raises(ValueError, match=r"umist_cropped\.mat holds more than \d+ bytes"):
        fetch_umist(data_home=tmp_path)


def test_a_missing_variable_is_explained(small, tmp_path):
    write_umist(tmp_path, name="faces")
    with pytest.raises(ValueError, match=r"umist_cropped\.mat lacks the variable 'facedat'"):
        fetch_umist(data_home=tmp_path)
