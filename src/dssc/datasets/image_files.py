"""Data sets of image files: binary PGM, and PNG by Pillow."""

import io
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np

from dssc._typing import Array
from dssc.datasets.archive import Tree, read_tree
from dssc.datasets.base import DataSet, Samples, check_samples
from dssc.datasets.errors import damaged, reading
from dssc.images import resize_images

# Blanks and comments between two numbers of a PGM header.
_GAP = rb"(?:\s|#[^\n]*\n)+"
# The header of a binary PGM file: width, height and largest gray value.
_PGM = re.compile(rb"P5" + _GAP + rb"(\d{1,5})" + _GAP + rb"(\d{1,5})" + _GAP + rb"(\d{1,5})\s")


def read_image_files(
    data_set: DataSet,
    path: Path | None,
    tree: Tree,
    decode: Callable[[bytes, str, tuple[int, int]], Array],
    shape: tuple[int, int],
) -> Samples | None:
    """Read the images of a distribution in order of class and position, each reduced in size.

    Parameters
    ----------
    data_set : DataSet
        The data set, with the shape of the reduced images.
    path : Path or None
        The distribution's folder, or a zip archive of it; None if it is missing.
    tree : Tree
        How it names its images.
    decode : callable
        `decode_pgm` or `decode_png`.
    shape : tuple of int
        Height and width of the images in the files.
    """
    if path is None:
        return None
    images, classes = [], []
    for label, name, content in read_tree(path, tree):
        images.append(reduce_image(decode(content, name, shape), data_set.shape))
        classes.append(label)
    if not images:
        raise damaged(path, f"holds no file named like {tree.glob}")
    labels = np.unique(classes, return_inverse=True)[1]
    return check_samples(data_set, np.stack(images), labels, path)


def decode_pgm(content: bytes, name: str, shape: tuple[int, int]) -> Array:
    """Return the gray image in a binary PGM file (P5), whose height and width must be `shape`."""
    header = _PGM.match(content)
    if header is None:
        raise damaged(name, "is not a binary PGM file (P5)")
    width, height, maximum = (int(number) for number in header.groups())
    if (height, width) != shape or maximum != 255:
        raise damaged(
            name,
            f"is {height} x {width} with gray values up to {maximum}, "
            f"not {shape[0]} x {shape[1]} up to 255",
        )
    n_bytes = len(content) - header.end()
    # The format allows more data after the image, so only too few bytes are an error.
    if n_bytes < height * width:
        raise damaged(name, f"is truncated: {n_bytes} of {height * width} pixels")
    return np.frombuffer(content, np.uint8, height * width, header.end()).reshape(shape)


def decode_png(content: bytes, name: str, shape: tuple[int, int]) -> Array:
    """Return the RGB image in a PNG file, whose height and width must be `shape`."""
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError("reading PNG files needs Pillow: pip install 'dssc[images]'") from error
    with reading(name), Image.open(io.BytesIO(content), formats=("PNG",)) as image:
        # Opening reads only the header; nothing is decompressed before the size is checked.
        if image.mode != "RGB" or image.size != shape[::-1]:
            raise damaged(
                name,
                f"is {image.height} x {image.width} in mode {image.mode}, "
                f"not {shape[0]} x {shape[1]} in mode RGB",
            )
        return np.asarray(image)


def reduce_image(image: Array, shape: tuple[int, ...]) -> Array:
    """Resize an image as in the prepared files: bilinearly, then rounded to integers."""
    height, width = shape[:2]
    return np.rint(resize_images(image[None], (height, width))[0]).astype(np.uint8)
