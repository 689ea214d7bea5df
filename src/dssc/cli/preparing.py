"""Features for clustering, from the samples of a file or folder."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from dssc._typing import Array, Matrix
from dssc.cli.exits import CommandError
from dssc.cli.reading.samples import Samples
from dssc.features import pca_features, scattered_features
from dssc.features.scattered import n_coefficients

# Principal components of scattered features, as in the paper.
SCATTERED_COMPONENTS = 500


@dataclass
class Prepared:
    """Features, and how they were computed.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n, d)
        The features.
    images : ndarray or None
        The samples as images, if they are images.
    steps : list of str
        The steps of the computation, for the summary.
    """

    X: Matrix
    images: Array | None
    steps: list[str]


def prepare(
    samples: Samples,
    *,
    image_shape: tuple[int, ...] | None = None,
    features: str | None = None,
    scale: str = "none",
    pca: int | None = None,
) -> Prepared:
    """Return the features of samples.

    Parameters
    ----------
    samples : Samples
        The samples.
    image_shape : tuple of ints, optional
        Shape of the images, if rows are the pixels of images.
    features : {"raw", "scattered"}, optional
        Values as they are, or scattering coefficients; by default the latter for images.
    scale : {"none", "center", "standard"}
        Whether to subtract the mean of each feature, and to divide by its standard deviation.
    pca : int, optional
        Number of uncentred principal components; by default at most 500 for scattered features,
        and no projection otherwise.
    """
    images = samples.values if samples.are_images else None
    if image_shape is not None:
        images = _as_images(samples, image_shape)
    if features is None:
        features = "raw" if images is None else "scattered"
    if features == "scattered":
        if images is None:
            raise CommandError(
                "--features scattered needs images: a folder of them, a stack (samples x height x "
                "width), or rows of pixels with --image-shape"
            )
        X, steps = _scattered(images, pca)
    else:
        X = samples.values
        X = X.reshape(len(X), -1) if samples.are_images else X
        X = X if X.dtype.kind == "f" else X.astype(np.float64)
        steps = []
    if scale != "none":
        X = _scaled(X, scale)
        steps.append({"center": "centred", "standard": "standardised"}[scale])
    if pca is not None and features == "raw":
        X = _as_dense(X, "--pca")
        _check_components(pca, min(X.shape))
        X = pca_features(X, pca)
        steps.append(f"PCA to {pca}")
    return Prepared(X, images, steps)


def _as_images(samples: Samples, shape: tuple[int, ...]) -> Array:
    if samples.are_images:
        raise CommandError("--image-shape is for rows of pixels; these samples are images already")
    X = _as_dense(samples.values, "--image-shape")
    if X.shape[1] != np.prod(shape):
        raise CommandError(
            f"--image-shape {'x'.join(map(str, shape))} asks for {np.prod(shape)} pixels per row; "
            f"{samples.source} has {X.shape[1]} columns"
        )
    return X.reshape(len(X), *shape)


def _scattered(images: Array, pca: int | None) -> tuple[Matrix, list[str]]:
    limit = min(len(images), n_coefficients(images))
    n_components = min(SCATTERED_COMPONENTS, limit) if pca is None else pca
    _check_components(n_components, limit)
    return scattered_features(images, n_components), ["scattering", f"PCA to {n_components}"]


def _check_components(n_components: int, limit: int) -> None:
    if not 1 <= n_components <= limit:
        raise CommandError(f"--pca {n_components} must be between 1 and {limit} for these samples")


def _scaled(X: Matrix, scale: str) -> Array:
    X = _as_dense(X, f"--scale {scale}").astype(np.float64)
    X = X - X.mean(axis=0)
    if scale == "standard":
        deviation = X.std(axis=0)
        X /= np.where(deviation > 0, deviation, 1.0)  # a constant feature becomes zero
    return X


def _as_dense(X: Matrix, option: str) -> Array:
    if sparse.issparse(X):
        raise CommandError(f"{option} is for dense data; this is a sparse matrix")
    return X
