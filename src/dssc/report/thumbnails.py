"""Small pictures of samples, all on one sheet."""

import base64
from dataclasses import dataclass

import numpy as np

from dssc.images import resize_images
from dssc.report.png import encode_png

LONGEST_SIDE, LONGEST_OF_MANY = 40, 28
MANY = 1000


@dataclass(frozen=True)
class Sheet:
    """Thumbnails in a grid, as one image.

    Attributes
    ----------
    address : str
        The image as a data address.
    places : dict
        Place of a sample on the sheet.
    columns, rows, width, height : int
        Shape of the grid and of a thumbnail.
    """

    address: str
    places: dict[int, int]
    columns: int
    rows: int
    width: int
    height: int


def make_sheet(images: np.ndarray, samples: np.ndarray) -> Sheet:
    """Put thumbnails of some images on a sheet."""
    samples = np.unique(samples)
    longest = LONGEST_OF_MANY if len(samples) > MANY else LONGEST_SIDE
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
    return Sheet(f"data:image/png;base64,{encoded}", places, columns, rows, width, height)


def _reduced(images, longest):
    """Return images of bytes, none of whose sides is longer than `longest`."""
    height, width = images.shape[1:3]
    shrink = min(1.0, longest / max(height, width))
    shape = max(1, round(height * shrink)), max(1, round(width * shrink))
    small = images.astype(np.float32) if images.dtype != np.uint8 else images
    if shape != (height, width):
        small = resize_images(small, shape)
    if images.dtype != np.uint8:  # of unknown range
        low, high = float(images.min()), float(images.max())
        small = (small - low) * (255.0 / (high - low if high > low else 1.0))
    return np.clip(np.rint(small), 0, 255).astype(np.uint8)
