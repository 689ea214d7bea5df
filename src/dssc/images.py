"""Resizing of images, as the paper's data were reduced."""

import numpy as np
from numpy.typing import ArrayLike

from dssc._typing import Array


def resize_images(images: ArrayLike, shape: tuple[int, int]) -> Array:
    """Resize images by bilinear interpolation between pixel centres, without antialiasing.

    A pixel of the result takes the value at its own centre, ``(i + 1/2) h / H - 1/2`` in rows of
    the input, interpolated between the four pixels around it and held constant beyond the border.
    Smoothing before the reduction would give images other than the paper's.

    Parameters
    ----------
    images : array-like of shape (n_images, height, width) or (n_images, height, width, channels)
        Images.
    shape : tuple of two ints
        Height and width of the result.

    Returns
    -------
    resized : ndarray of the given height and width
        In float32 for float32 input and float64 otherwise; nothing is rounded.
    """
    resized = check_images(images)
    if len(shape) != 2 or min(shape) < 1:
        raise ValueError(f"shape={shape} must be two positive integers")
    dtype = np.float32 if resized.dtype == np.float32 else np.float64
    for axis, size in enumerate(shape, start=1):
        resized = _resize_axis(resized.astype(dtype, copy=False), axis, size)
    return resized


def check_images(images: ArrayLike) -> Array:
    """Return images as an array; raise ValueError if its shape is not that of images."""
    array = np.asarray(images)
    check_image_shape(array.shape)
    return array


def check_image_shape(shape: tuple[int, ...]) -> None:
    """Raise ValueError for a shape that is not that of images."""
    if len(shape) not in (3, 4) or 0 in shape:
        raise ValueError(
            "images must have shape (n_images, height, width[, channels]) and not be empty; "
            f"their shape is {shape}"
        )


def _resize_axis(images: Array, axis: int, size: int) -> Array:
    n = images.shape[axis]
    if n == size:
        return images
    centres = np.clip((np.arange(size) + 0.5) * n / size - 0.5, 0, n - 1)
    low = np.minimum(centres.astype(np.intp), max(n - 2, 0))
    weight = (centres - low).astype(images.dtype)
    weight = weight.reshape([-1 if a == axis else 1 for a in range(images.ndim)])
    first = images.take(low, axis=axis)
    second = images.take(np.minimum(low + 1, n - 1), axis=axis)
    return first + weight * (second - first)
