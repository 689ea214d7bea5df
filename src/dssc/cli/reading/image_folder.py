"""Folders of images, with their subfolders, sorted by name (2 before 10).

The labels "folders" make the first folder below the source the class of an image. Without a size,
all images must have the same size.
"""

import re
from collections.abc import Sequence
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


class UnreadableImage(CommandError):
    """A file that has the ending of an image and is none."""


def read(path: Path, options: ReadOptions) -> Samples:
    """Read the images, and their classes if the labels are "folders"."""
    names = image_names(path)
    if not names:
        raise CommandError(f"{path} holds no images; dssc reads {', '.join(IMAGE_ENDINGS)}")
    if options.labels == "folders":
        outside = [name for name in names if "/" not in name]
        if outside:
            raise CommandError(
                f"--labels folders: {path / outside[0]} is not in a folder that could be its class"
            )
    samples = read_images(str(path), [path / name for name in names], names, options)
    if options.labels == "folders":
        samples.labels = np.array([name.split("/")[0] for name in samples.names or ()])
    return samples


def image_names(folder: Path) -> list[str]:
    """Return the images of a folder and its subfolders, relative to it, in natural order."""
    names = (
        file.relative_to(folder).as_posix()
        for file in folder.rglob("*")
        if is_image(file) and file.is_file() and not file.name.startswith(".")
    )
    return sorted(names, key=natural_order)


def is_image(path: Path) -> bool:
    """Return whether a file has the ending of an image."""
    return path.suffix.lower() in IMAGE_ENDINGS


def natural_order(name: str) -> list[int | str]:
    """Return the key by which names are sorted, with 2 before 10."""
    return [int(part) if part.isdecimal() else part.lower() for part in re.split(r"(\d+)", name)]


def read_images(
    source: str, paths: Sequence[Path], names: Sequence[str], options: ReadOptions
) -> Samples:
    """Read images of one size, or resize them to it; on request, pass over unreadable ones."""
    images: list[Array] = []
    read: list[str] = []
    skipped: dict[int, dict[str, str | int]] = {}
    problems: list[str] = []
    for index, (path, name) in enumerate(zip(paths, names, strict=True)):
        try:
            image = _decode(path)
        except UnreadableImage as error:
            if not options.skip_bad:
                raise UnreadableImage(f"{error}; mend or remove it, or add --skip-bad") from error
            skipped[index] = {"file": name}
            problems.append(f"passed over: {error}")
            continue
        if options.size is not None:
            image = resize_images(image[None].astype(np.float32), options.size)[0]
        elif images and image.shape[:2] != images[0].shape[:2]:
            (height, width), (h, w) = images[0].shape[:2], image.shape[:2]
            raise CommandError(
                f"{path} is {h} x {w} but {read[0]} is {height} x {width}; "
                f"give --size, for example --size {height}x{width}, to resize all images"
            )
        images.append(image)
        read.append(name)
    if not images:
        raise CommandError(f"{source}: none of the {len(names)} images can be read")
    if len({image.ndim for image in images}) == 2:  # some are gray, some are coloured
        images = [image if image.ndim == 3 else np.stack([image] * 3, axis=2) for image in images]
    return Samples(source, np.stack(images), names=read, skipped=skipped, warnings=problems)


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
        raise UnreadableImage(f"{path} is not a readable image: {error}") from error
