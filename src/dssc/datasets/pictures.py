"""Images in files of their own: binary PGM, and PNG by Pillow."""

import io
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np

from dssc.datasets.archive import Tree, read_tree
from dssc.datasets.errors import damaged, reading
from dssc.images import resize_images

_GAP = rb"(?:\s|#[^\n]*\n)+"
_PGM = re.compile(rb"P5" + _GAP + rb"(\d{1,5})" + _GAP + rb"(\d{1,5})" + _GAP + rb"(\d{1,5})\s")


def read_pictures(
    path: Path,
    tree: Tree,
    decode: Callable[[bytes, str, tuple[int, int]], np.ndarray],
    shape: tuple[int, int],
    reduced: tuple[int, ...],
) -> tuple[np.ndarray, np.ndarray]:
    """Read the images of a distribution, reduced one by one.

    Parameters
    ----------
    path : Path
        The distribution's folder, or a zip archive of it.
    tree : Tree
        How it names its images.
    decode : callable
        `decode_pgm` or `decode_png`.
    shape, reduced : tuple of int
        Shape of the images, height and width first, in the files and in the result.

    Returns
    -------
    images : ndarray of uint8
        The images, in order of class and place.
    labels : ndarray of int
        Their classes, numbered from 0.
    """
    images, classes = [], []
    for label, name, content in read_tree(path, tree):
        images.append(reduce_image(decode(content, name, shape), reduced))
        classes.append(label)
    if not images:
        raise damaged(path, f"holds no file named like {tree.glob}")
    return np.stack(images), np.unique(classes, return_inverse=True)[1]


def decode_pgm(content: bytes, name: str, shape: tuple[int, int]) -> np.ndarray:
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
    # The format allows more to follow the image, so only a shortage is wrong.
    if n_bytes < height * width:
        raise damaged(name, f"is truncated: {n_bytes} of {height * width} pixels")
    return np.frombuffer(content, np.uint8, height * width, header.end()).reshape(shape)


def decode_png(content: bytes, name: str, shape: tuple[int, int]) -> np.ndarray:
    """Return the RGB image in a PNG file, whose height and width must be `shape`."""
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError("reading PNG files needs Pillow: pip install 'dssc[images]'") from error
    with reading(name), Image.open(io.BytesIO(content), formats=("PNG",)) as image:
        # Opening reads the header alone; nothing is decompressed until its claims are checked.
        if image.mode != "RGB" or image.size != shape[::-1]:
            raise damaged(
                name,
                f"is {image.height} x {image.width} in mode {image.mode}, "
                f"not {shape[0]} x {shape[1]} in mode RGB",
            )
        return np.asarray(image)


def reduce_image(image: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Resize an image as the prepared files were: bilinearly, then rounded to whole gray values."""
    height, width = shape[:2]
    return np.rint(resize_images(image[None], (height, width))[0]).astype(np.uint8)
