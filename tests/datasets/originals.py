"""Small data sets in the formats of the original distributions, for the tests to write."""

import gzip
import io
import struct
import zipfile

import numpy as np
import pytest
import scipy.io

from dssc.datasets import digits, faces, objects

FETCH = {
    "yaleb": faces.fetch_yaleb,
    "orl": faces.fetch_orl,
    "umist": faces.fetch_umist,
    "coil": objects.fetch_coil,
    "mnist": digits.fetch_mnist,
    "emnist": digits.fetch_emnist_letters,
}


def pgm(image, comment=""):
    height, width = image.shape
    return f"P5\n{comment}{width} {height}\n255\n".encode() + image.tobytes()


def png(image, mode="RGB"):
    Image = pytest.importorskip("PIL.Image")
    buffer = io.BytesIO()
    Image.fromarray(image).convert(mode).save(buffer, "PNG")
    return buffer.getvalue()


def idx(array):
    shape = struct.pack(f">{array.ndim}I", *array.shape)
    return bytes([0, 0, 8, array.ndim]) + shape + array.astype(np.uint8).tobytes()


def random_images(*shape):
    return np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)


def yaleb_files():
    """Two people, two images each; the corrupted and the ambient image are not to be read."""
    images = random_images(4, 192, 168)
    names = ["yaleB02/yaleB02_P00A+000E+00", "yaleB02/yaleB02_P00A-005E-10"]
    names += ["yaleB15/yaleB15_P00A+000E+00", "yaleB15/yaleB15_P00A+110E-20"]
    files = {f"{name}.pgm": pgm(image) for name, image in zip(names, images, strict=True)}
    files["yaleB15/yaleB15_P00A+050E-40.pgm.bad"] = b"corrupted"
    files["yaleB15/yaleB15_P00_Ambient.pgm"] = pgm(random_images(480, 640))
    return files, images, [0, 0, 1, 1]


def orl_files():
    """Two people; the order of their images is that of numbers, not of names."""
    images = random_images(4, 112, 92)
    names = ["s1/2.pgm", "s1/10.pgm", "s10/1.pgm", "s10/3.pgm"]
    contents = [pgm(image, comment="# a comment\n") for image in images]
    return dict(zip(names, contents, strict=True)), images, [0, 0, 1, 1]


def coil_files():
    """Two objects from two angles each, in the order of numbers."""
    images = random_images(4, 128, 128, 3)
    names = ["obj2__5.png", "obj2__10.png", "obj11__0.png", "obj11__355.png"]
    return dict(zip(names, map(png, images), strict=True)), images, [0, 0, 1, 1]


def mnist_files():
    """Three training images and one test image."""
    images, labels = random_images(4, 28, 28), np.array([1, 0, 1, 0])
    files = {
        "train-images-idx3-ubyte": idx(images[:3]),
        "train-labels-idx1-ubyte": idx(labels[:3]),
        "t10k-images-idx3-ubyte": idx(images[3:]),
        "t10k-labels-idx1-ubyte": idx(labels[3:]),
    }
    return files, images, labels


def emnist_files():
    """Three training images and one test image, transposed and with labels from 1."""
    images, labels = random_images(4, 28, 28), np.array([1, 0, 1, 0])
    stored = images.transpose(0, 2, 1)
    files = {
        "emnist-letters-train-images-idx3-ubyte": idx(stored[:3]),
        "emnist-letters-train-labels-idx1-ubyte": idx(labels[:3] + 1),
        "emnist-letters-test-images-idx3-ubyte": idx(stored[3:]),
        "emnist-letters-test-labels-idx1-ubyte": idx(labels[3:] + 1),
    }
    return files, images, labels


FILES = {
    "yaleb": yaleb_files,
    "orl": orl_files,
    "coil": coil_files,
    "mnist": mnist_files,
    "emnist": emnist_files,
}


def write_files(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def write_gz(folder, files):
    write_files(folder, {f"{name}.gz": gzip.compress(c) for name, c in files.items()})


def write_zip(path, files, prefix=""):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(f"{prefix}{name}", content)


def write_umist(folder, cells=None, name="facedat"):
    """Write two people with one and three images, unless other cells are given."""
    images = random_images(4, 112, 92)
    if cells is None:
        cells = [np.moveaxis(images[:1], 0, 2), np.moveaxis(images[1:], 0, 2)]
    stacks = np.empty((1, len(cells)), dtype=object)
    stacks[0, :] = cells
    scipy.io.savemat(folder / "umist_cropped.mat", {name: stacks}, do_compression=True)
    return images, [0, 1, 1, 1]


def write_original(name, folder):
    """Write the original distribution of a data set in one form; return its images and labels."""
    if name == "umist":
        return write_umist(folder)
    files, images, labels = FILES[name]()
    match name:
        case "yaleb":
            write_zip(folder / "CroppedYale.zip", files, "CroppedYale/")
        case "orl":
            write_files(folder, files)
        case "coil":
            write_zip(folder / "coil-100.zip", files, "coil-100/")
        case "mnist":
            write_gz(folder, files)
        case "emnist":
            packed = {f"{key}.gz": gzip.compress(value) for key, value in files.items()}
            write_zip(folder / "gzip.zip", packed, "gzip/")
    return images, labels


def write_npz(folder, name, **changes):
    """Write a prepared file of two classes of two images, with changes to its arrays."""
    shapes = {
        "yaleb": (48, 42),
        "coil100": (32, 32, 3),
        "mnist": (28, 28),
        "emnist_letters": (28, 28),
    }
    images = random_images(4, *shapes.get(name, (32, 32)))
    arrays = {"images": images, "labels": np.array([0, 0, 1, 1], dtype=np.uint8)} | changes
    kept = {key: value for key, value in arrays.items() if value is not None}
    np.savez_compressed(folder / f"{name}.npz", **kept)
    return images
