import io

import numpy as np
import pytest
import scipy.io

from dssc.datasets.mat import read_image_cells
from tests.datasets.originals import random_images

SHAPE = (6, 5)


def write(path, cells, **options):
    stacks = np.empty((1, len(cells)), dtype=object)
    stacks[0, :] = cells
    variables = {"names": np.array(["a", "bc"]), "facedat": stacks, "n": 3.0}
    scipy.io.savemat(path, variables, **options)


@pytest.mark.parametrize("do_compression", [False, True])
def test_the_reader_agrees_with_scipy(do_compression, tmp_path):
    cells = [random_images(*SHAPE, count) for count in (3, 1, 12)] + [random_images(*SHAPE)]
    path = tmp_path / "faces.mat"
    write(path, cells, do_compression=do_compression)
    expected = scipy.io.loadmat(path)["facedat"].ravel()
    read = read_image_cells(path, "facedat", 4, SHAPE, 17)
    for images, stack in zip(read, expected, strict=True):
        np.testing.assert_array_equal(images, np.moveaxis(stack.reshape(*SHAPE, -1), 2, 0))


def test_a_stack_of_one_image_has_one_image(tmp_path):
    path = tmp_path / "faces.mat"
    image = random_images(*SHAPE)
    write(path, [image])
    np.testing.assert_array_equal(read_image_cells(path, "facedat", 1, SHAPE, 1), [image[None]])


def test_big_endian_files_are_read(tmp_path):
    """Write by hand what SciPy cannot: the bytes of a file from another machine."""
    image = random_images(*SHAPE)
    path = tmp_path / "faces.mat"
    header = b" " * 124 + b"\x01\x00MI"
    cell = matrix(9, SHAPE, b"", element(2, image.T.tobytes()))
    path.write_bytes(header + matrix(1, (1, 1), b"facedat", cell))
    np.testing.assert_array_equal(read_image_cells(path, "facedat", 1, SHAPE, 1), [image[None]])


def element(kind, content):
    padding = bytes(-len(content) % 8)
    return kind.to_bytes(4, "big") + len(content).to_bytes(4, "big") + content + padding


def matrix(kind, dims, name, content):
    buffer = io.BytesIO()
    buffer.write(element(6, kind.to_bytes(4, "big") + bytes(4)))
    buffer.write(element(5, b"".join(size.to_bytes(4, "big") for size in dims)))
    buffer.write(element(1, name))
    buffer.write(content)
    return element(14, buffer.getvalue())


@pytest.mark.parametrize("content", [b"", b"MATLAB 5.0", b" " * 124 + b"\x00\x02IM" + bytes(500)])
def test_other_files_are_refused(content, tmp_path):
    path = tmp_path / "faces.mat"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"faces\.mat is not a MATLAB file of version 5 to 7"):
        read_image_cells(path, "facedat", 1, SHAPE, 1)
