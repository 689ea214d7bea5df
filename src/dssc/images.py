"""Changing the size of images, the way the paper's data were reduced."""

import numpy as np


def resize_images(images, shape: tuple[int, int]) -> np.ndarray:
    """Resize images by bilinear interpolation between pixel centres, without antialiasing.

    A pixel of the result takes the value at its own centre, ``(i + 1/2) h / H - 1/2`` in rows of
    the input, interpolated between the four pixels around it and held constant beyond the border.
    Smoothing before reduction would give other pictures than the paper's.

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
    images = check_images(images)
    if len(shape) != 2 or min(shape) < 1:
        raise ValueError(f"shape={shape} must be two positive integers")
    dtype = np.float32 if images.dtype == np.float32 else np.float64
    for axis, size in enumerate(shape, start=1):
        images = _resize_axis(images.astype(dtype, copy=False), axis, size)
    return images


def check_images(images) -> np.ndarray:
    """Return images as an array, gray or in channels, if that is what they are."""
    images = np.asarray(images)
    if images.ndim not in (3, 4) or 0 in images.shape:
        raise ValueError(
            "images must have shape (n_images, height, width[, channels]) and not be empty; "
            f"their shape is {images.shape}"
        )
    return images


def _resize_axis(images, axis, size):
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
