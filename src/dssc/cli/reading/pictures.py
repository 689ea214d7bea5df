"""Folders of images."""

import re
from pathlib import Path

import numpy as np

from dssc.cli.exits import CommandError
from dssc.cli.reading.samples import Samples
from dssc.images import resize_images

ENDINGS = (
    ".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp",
)  # fmt: skip
DEEP_MODES = ("F", "I", "I;16", "I;16B", "I;16L")  # more than 8 bits of gray


def read_pictures(folder: Path, labels=None, size=None) -> Samples:
    """Read all images below a folder, in the order of their names (2 before 10).

    Parameters
    ----------
    folder : Path
        The folder; folders inside it are read too.
    labels : str, optional
        "folders" makes the first folder below `folder` an image's class.
    size : tuple of two ints, optional
        Height and width that all images are changed to. Without it they must be of one size.
    """
    names = sorted(
        (
            file.relative_to(folder).as_posix()
            for file in folder.rglob("*")
            if file.suffix.lower() in ENDINGS and file.is_file() and not file.name.startswith(".")
        ),
        key=_natural,
    )
    if not names:
        raise CommandError(f"{folder} holds no images; dssc reads {', '.join(ENDINGS)}")
    images = _of_one_size(folder, names, size)
    if len({image.ndim for image in images}) == 2:  # gray among coloured ones
        images = [image if image.ndim == 3 else np.stack([image] * 3, axis=2) for image in images]
    found = _folders(folder, names) if labels == "folders" else None
    return Samples(str(folder), np.stack(images), found, names=names)


def _of_one_size(folder, names, size):
    images: list[np.ndarray] = []
    for name in names:
        image = _decode(folder / name)
        if size is not None:
            image = resize_images(image[None].astype(np.float32), size)[0]
        elif images and image.shape[:2] != images[0].shape[:2]:
            (height, width), (h, w) = images[0].shape[:2], image.shape[:2]
            raise CommandError(
                f"{folder / name} is {h} x {w} but {names[0]} is {height} x {width}; "
                f"give --size {height}x{width}, say, to change all to one size"
            )
        images.append(image)
    return images


def _decode(path: Path) -> np.ndarray:
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
    # Damaged images raise anything, from SyntaxError to struct.error.
    except Exception as error:
        raise CommandError(f"{path} is no image that can be read: {error}") from error


def _folders(folder, names):
    loose = [name for name in names if "/" not in name]
    if loose:
        raise CommandError(
            f"--labels folders: {folder / loose[0]} lies in no folder that could be its class"
        )
    return np.array([name.split("/")[0] for name in names])


def _natural(name):
    return [int(part) if part.isdecimal() else part.lower() for part in re.split(r"(\d+)", name)]
