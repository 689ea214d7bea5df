"""Folders of images, with their subfolders, sorted by name (2 before 10).

The labels "folders" make the first folder below the source the class of an image. Without a size,
all images must have the same size.
"""

import re
from pathlib import Path

import numpy as np

from dssc._typing import Array
from dssc.cli.exits import CommandError
from dssc.cli.reading.reader import ReadOptions
from dssc.cli.reading.samples import Samples
from dssc.images import resize_images

# Endings of image files.
IMAGE_ENDINGS = (
    ".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp",
)  # fmt: skip
# Modes of Pillow with more than 8 bits of gray.
DEEP_MODES = ("F", "I", "I;16", "I;16B", "I;16L")


# The options that apply to folders.
options = ("size",)


def read(path: Path, options: ReadOptions) -> Samples:
    """Read the images, and their classes if the labels are "folders"."""
    names = sorted(
        (
            file.relative_to(path).as_posix()
            for file in path.rglob("*")
            if file.suffix.lower() in IMAGE_ENDINGS
            and file.is_file()
            and not file.name.startswith(".")
        ),
        key=_natural_order,
    )
    if not names:
        raise CommandError(f"{path} holds no images; dssc reads {', '.join(IMAGE_ENDINGS)}")
    images = _read_images(path, names, options.size)
    if len({image.ndim for image in images}) == 2:  # some are gray, some are coloured
        images = [image if image.ndim == 3 else np.stack([image] * 3, axis=2) for image in images]
    labels = _folders(path, names) if options.labels == "folders" else None
    return Samples(str(path), np.stack(images), labels, names=names)


def _read_images(folder: Path, names: list[str], size: tuple[int, int] | None) -> list[Array]:
    """Read images of one size, or resize them to it."""
    images: list[Array] = []
    for name in names:
        image = _decode(folder / name)
        if size is not None:
            image = resize_images(image[None].astype(np.float32), size)[0]
        elif images and image.shape[:2] != images[0].shape[:2]:
            (height, width), (h, w) = images[0].shape[:2], image.shape[:2]
            raise CommandError(
                f"{folder / name} is {h} x {w} but {names[0]} is {height} x {width}; "
                f"give --size, for example --size {height}x{width}, to resize all images"
            )
        images.append(image)
    return images


def _decode(path: Path) -> Array:
    """Return an image as (height, width) in gray or (height, width, 3) in colour."""
    try:
        from PIL import Image
    except ImportError as error:
        raise CommandError("reading images needs Pillow: pip install 'dssc[images]'") from error
    try:
        with Image.open(path) as image:
            if image.mode in DEEP_MODES:
                return np.asarray(image, dtype=np.float32)
            return np.asarray(image.convert("L" if image.mode in ("1", "L", "LA") else "RGB"))
    # Pillow raises all kinds of exceptions for damaged images, from SyntaxError to struct.error.
    except Exception as error:
        raise CommandError(f"{path} is not a readable image: {error}") from error


def _folders(folder: Path, names: list[str]) -> Array:
    """Return the first folder of each name."""
    outside = [name for name in names if "/" not in name]
    if outside:
        raise CommandError(
            f"--labels folders: {folder / outside[0]} is not in a folder that could be its class"
        )
    return np.array([name.split("/")[0] for name in names])


def _natural_order(name: str) -> list[int | str]:
    return [int(part) if part.isdecimal() else part.lower() for part in re.split(r"(\d+)", name)]
