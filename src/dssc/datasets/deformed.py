"""Any number of digits, by small deformations of those of MNIST."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from dssc._typing import Array, RandomState
from dssc._validation import check_nonnegative
from dssc.datasets.digits import fetch_mnist

# Images that share one random generator, so that the first images do not depend on `n_samples`.
CHUNK = 1000
# Distance in pixels over which an elastic deformation varies.
SMOOTHNESS = 4.0


def make_deformed_digits(
    n_samples: int,
    *,
    source: tuple[ArrayLike, ArrayLike] | None = None,
    affine: float = 0.08,
    elastic: float = 0.6,
    random_state: RandomState = None,
) -> tuple[Array, Array]:
    """Draw digits, and deform each by a random affine and a random elastic map.

    Parameters
    ----------
    n_samples : int
        Number of images.
    source : tuple of two ndarrays, optional
        Images (n_images, height, width) to draw from, and their labels; MNIST when not given.
    affine : float, default=0.08
        Standard deviation of the four entries by which the linear map differs from the identity.
        The shift has a quarter of it, relative to the side of the image.
    elastic : float, default=0.6
        Standard deviation of the elastic displacement, in pixels.
    random_state : int, RandomState instance or None, default=None
        Seed or generator; pass an int for reproducible data.

    Returns
    -------
    images : ndarray of shape (n_samples, height, width), uint8
        Deformed images.
    labels : ndarray of shape (n_samples,)
        Their labels.
    """
    blocks = iterate_deformed_digits(
        n_samples, source=source, affine=affine, elastic=elastic, random_state=random_state
    )
    images, labels = zip(*blocks, strict=True)
    return np.concatenate(images), np.concatenate(labels)


def iterate_deformed_digits(
    n_samples: int,
    *,
    source: tuple[ArrayLike, ArrayLike] | None = None,
    affine: float = 0.08,
    elastic: float = 0.6,
    random_state: RandomState = None,
) -> Iterator[tuple[Array, Array]]:
    """Yield the images and labels of `make_deformed_digits` in blocks of a thousand."""
    if source is None:
        mnist: Any = fetch_mnist()
        source = mnist.images, mnist.target
    images, labels = (np.asarray(part) for part in source)
    _check(n_samples, images, labels, affine, elastic)
    seed = check_random_state(random_state).randint(2**31)
    starts = range(0, n_samples, CHUNK)
    for start, child in zip(starts, np.random.SeedSequence(seed).spawn(len(starts)), strict=True):
        rng = np.random.default_rng(child)
        drawn = rng.integers(0, len(images), CHUNK)
        rows, columns = _positions(rng, images.shape[1:], affine, elastic)
        deformed = _sample(images[drawn].astype(np.float32), rows, columns)
        n_kept = min(CHUNK, n_samples - start)
        yield np.rint(deformed[:n_kept]).astype(np.uint8), labels[drawn[:n_kept]]


def _positions(
    rng: np.random.Generator, shape: tuple[int, ...], affine: float, elastic: float
) -> list[Array]:
    """Return the row and the column in the old image of each pixel of CHUNK new images."""
    height, width = shape
    y, x = np.mgrid[:height, :width].astype(np.float32)
    y, x = y - (height - 1) / 2, x - (width - 1) / 2
    linear = np.eye(2) + affine * rng.standard_normal((CHUNK, 2, 2))
    shift = 0.25 * affine * np.array(shape) * rng.standard_normal((CHUNK, 2))
    moved = []
    for axis, size in enumerate(shape):
        position = linear[:, axis, 0, None, None] * y + linear[:, axis, 1, None, None] * x
        position += shift[:, axis, None, None] + (size - 1) / 2
        position += elastic * _smooth_noise(rng, shape)
        moved.append(position.astype(np.float32))
    return moved


def _smooth_noise(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Return fields of unit variance that vary over SMOOTHNESS pixels."""
    smoothers = []
    for size in shape:
        distance = np.arange(size)[:, None] - np.arange(size)[None, :]
        weights = np.exp(-(distance**2) / (2 * SMOOTHNESS**2))
        smoothers.append(weights / np.linalg.norm(weights, axis=1, keepdims=True))
    return smoothers[0] @ rng.standard_normal((CHUNK, *shape)) @ smoothers[1].T


def _sample(images: Array, rows: Array, columns: Array) -> Array:
    """Interpolate bilinearly; outside of an image there is background."""
    n, height, width = images.shape
    bordered = np.pad(images, ((0, 0), (1, 1), (1, 1)))
    rows = np.clip(rows + 1, 0, height + 0.999)
    columns = np.clip(columns + 1, 0, width + 0.999)
    top, left = rows.astype(np.intp), columns.astype(np.intp)
    down, right = rows - top, columns - left
    flat = bordered.ravel()
    corner = (np.arange(n)[:, None, None] * (height + 2) + top) * (width + 2) + left
    upper = flat[corner] * (1 - right) + flat[corner + 1] * right
    lower = flat[corner + width + 2] * (1 - right) + flat[corner + width + 3] * right
    return upper * (1 - down) + lower * down


def _check(n_samples: int, images: Array, labels: Array, affine: float, elastic: float) -> None:
    if n_samples < 1:
        raise ValueError(f"n_samples={n_samples} must be at least 1")
    if images.ndim != 3 or len(images) != len(labels) or len(images) == 0:
        raise ValueError(
            "source must be images (n, height, width) and n labels; "
            f"got shapes {images.shape} and {labels.shape}"
        )
    check_nonnegative("affine", affine)
    check_nonnegative("elastic", elastic)
