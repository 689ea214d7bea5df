"""Thumbnails of samples, all on one sheet."""

import base64
from dataclasses import dataclass

import numpy as np

from dssc._typing import Array
from dssc.images import resize_images
from dssc.report.png import encode_png

# Longest side of a thumbnail, in pixels.
LONGEST_SIDE = 40
# Longest side if there are more than MANY thumbnails.
LONGEST_SIDE_OF_MANY = 28
# More thumbnails than this are made smaller.
MANY = 1000


@dataclass(frozen=True)
class ThumbnailSheet:
    """Thumbnails in a grid, as one image.

    Attributes
    ----------
    address : str
        The image as a data URL.
    places : dict
        Position of each sample on the sheet, counted row by row.
    columns, rows, width, height : int
        Shape of the grid and of a thumbnail.
    """

    address: str
    places: dict[int, int]
    columns: int
    rows: int
    width: int
    height: int


def make_sheet(images: Array, samples: Array) -> ThumbnailSheet:
    """Return a sheet with thumbnails of the given samples."""
    samples = np.unique(samples)
    longest = LONGEST_SIDE_OF_MANY if len(samples) > MANY else LONGEST_SIDE
    small = _reduced(images[samples], longest)
    n, height, width = small.shape[:3]
    columns = int(np.ceil(np.sqrt(n * height / width)))
    rows = -(-n // columns)
    grid = np.zeros((rows * columns, *small.shape[1:]), dtype=np.uint8)
    grid[:n] = small
    tiles = grid.reshape(rows, columns, *small.shape[1:]).swapaxes(1, 2)
    page = tiles.reshape(rows * height, columns * width, *small.shape[3:])
    encoded = base64.b64encode(encode_png(page)).decode()
    places = {int(sample): place for place, sample in enumerate(samples)}
    return ThumbnailSheet(f"data:image/png;base64,{encoded}", places, columns, rows, width, height)


def _reduced(images: Array, longest: int) -> Array:
    """Return images in uint8 whose sides are at most `longest`."""
    height, width = images.shape[1:3]
    shrink = min(1.0, longest / max(height, width))
    shape = max(1, round(height * shrink)), max(1, round(width * shrink))
    small = images.astype(np.float32) if images.dtype != np.uint8 else images
    if shape != (height, width):
        small = resize_images(small, shape)
    if images.dtype != np.uint8:  # their range is not known
        low, high = float(images.min()), float(images.max())
        small = (small - low) * (255.0 / (high - low if high > low else 1.0))
    return np.clip(np.rint(small), 0, 255).astype(np.uint8)
