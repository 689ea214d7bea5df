"""Thumbnails of samples, all on one sheet."""

import base64
from dataclasses import dataclass

import numpy as np

from dssc._typing import Array
from dssc.images import resize_images
from dssc.report.png import encode_png

# Longest side of a thumbnail in pixels, and the distance between its levels of gray or colour: the
# first that leave space for all thumbnails needed. Coarse levels take half the space of fine ones.
QUALITIES = ((96, 1), (64, 1), (48, 1), (36, 1), (28, 1), (28, 8), (20, 8), (20, 16))
# Images from which the size of others is estimated.
MEASURED = 64
# Share of the space that is planned for, so that images which compress worse than others fit too.
PLANNED = 0.95


@dataclass(frozen=True)
class ThumbnailSheet:
    """Thumbnails in a grid, as one image.

    Attributes
    ----------
    address : str
        The image as a data URL.
    samples : ndarray
        The samples on the sheet, row by row.
    columns, rows, width, height : int
        Shape of the grid and of a thumbnail.
    """

    address: str
    samples: Array
    columns: int
    rows: int
    width: int
    height: int


def make_sheet(
    images: Array, wanted: Array, n_needed: int, max_chars: int
) -> ThumbnailSheet | None:
    """Return a sheet with as many thumbnails as there is space for; None if there is none.

    Parameters
    ----------
    images : ndarray of shape (n_samples, height, width) or (n_samples, height, width, 3)
        The samples as images.
    wanted : ndarray
        Samples, the most important first, without repetition.
    n_needed : int
        Thumbnails are made smaller until this many of them fit.
    max_chars : int
        Most characters of the address.
    """
    images = images if images.dtype == np.uint8 else np.asarray(images, dtype=np.float32)
    scale = (0.0, 255.0) if images.dtype == np.uint8 else _range(images)
    some = wanted[np.linspace(0, len(wanted) - 1, min(MEASURED, len(wanted))).astype(int)]
    for longest, step in QUALITIES:
        sample = _sheet(_reduced(images[some], longest, step, scale), some)
        per_image = len(sample.address) / len(some)
        count = min(len(wanted), int(PLANNED * max_chars / per_image))
        if count >= n_needed:
            break
    while count > 0:
        kept = np.sort(wanted[:count])
        sheet = _sheet(_reduced(images[kept], longest, step, scale), kept)
        if len(sheet.address) <= max_chars:
            return sheet
        count = min(count - 1, int(PLANNED * count * max_chars / len(sheet.address)))
    return None


def _sheet(small: Array, samples: Array) -> ThumbnailSheet:
    """Put thumbnails on a sheet that is about as wide as it is high."""
    n, height, width = small.shape[:3]
    columns = int(np.ceil(np.sqrt(n * height / width)))
    rows = -(-n // columns)
    grid = np.zeros((rows * columns, *small.shape[1:]), dtype=np.uint8)
    grid[:n] = small
    tiles = grid.reshape(rows, columns, *small.shape[1:]).swapaxes(1, 2)
    page = tiles.reshape(rows * height, columns * width, *small.shape[3:])
    encoded = base64.b64encode(encode_png(page)).decode()
    return ThumbnailSheet(f"data:image/png;base64,{encoded}", samples, columns, rows, width, height)


def _range(images: Array) -> tuple[float, float]:
    """Return the smallest and the largest value, which become black and white."""
    low, high = float(images.min()), float(images.max())
    return low, high if high > low else low + 1.0


def _reduced(images: Array, longest: int, step: int, scale: tuple[float, float]) -> Array:
    """Return images in uint8 whose sides are at most `longest`, with levels `step` apart."""
    height, width = images.shape[1:3]
    shrink = min(1.0, longest / max(height, width))
    shape = max(1, round(height * shrink)), max(1, round(width * shrink))
    small = resize_images(images, shape) if shape != (height, width) else images
    low, high = scale
    levels = (small - low) * (255.0 / (high - low))
    return np.clip(np.rint(levels / step) * step, 0, 255).astype(np.uint8)
