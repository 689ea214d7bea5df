"""From samples as they were read to the features that are clustered."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from dssc.cli.exits import CommandError
from dssc.cli.reading import Samples
from dssc.features import pca_features, scattered_features

SCATTERED_COMPONENTS = 500  # the paper's


@dataclass
class Prepared:
    """Features, and how they were made.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n, d)
        What is clustered.
    images : ndarray or None
        The samples as images, where they are some.
    steps : list of str
        What was done, for the summary.
    """

    X: Any
    images: np.ndarray | None
    steps: list[str]


def prepare(samples: Samples, *, image_shape=None, features=None, scale="none", pca=None):
    """Return features of samples.

    Parameters
    ----------
    samples : Samples
        What was read.
    image_shape : tuple of ints, optional
        Shape of the images whose pixels the rows are.
    features : {"raw", "scattered"}, optional
        Pixels or scattering coefficients; the latter for images when not given.
    scale : {"none", "center", "standard"}
        Whether to subtract each feature's mean, and divide by its deviation.
    pca : int, optional
        Number of uncentred principal components; 500 at most for scattered features.
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


def _as_images(samples, shape):
    if samples.are_images:
        raise CommandError("--image-shape is for rows of pixels; these samples are images already")
    X = _as_dense(samples.values, "--image-shape")
    if X.shape[1] != np.prod(shape):
        raise CommandError(
            f"--image-shape {'x'.join(map(str, shape))} asks for {np.prod(shape)} pixels a row; "
            f"{samples.source} has {X.shape[1]} columns"
        )
    return X.reshape(len(X), *shape)


def _scattered(images, pca):
    channels = 1 if images.ndim == 3 else images.shape[3]
    most = min(len(images), 217 * 16 * channels)
    n_components = min(SCATTERED_COMPONENTS, most) if pca is None else pca
    _check_components(n_components, most)
    return scattered_features(images, n_components), ["scattering", f"PCA to {n_components}"]


def _check_components(asked, most):
    if not 1 <= asked <= most:
        raise CommandError(f"--pca {asked} must lie between 1 and {most} for these samples")


def _scaled(X, scale):
    X = _as_dense(X, f"--scale {scale}").astype(np.float64)
    X = X - X.mean(axis=0)
    if scale == "standard":
        deviation = X.std(axis=0)
        X /= np.where(deviation > 0, deviation, 1.0)  # a constant feature stays zero
    return X


def _as_dense(X, option):
    if sparse.issparse(X):
        raise CommandError(f"{option} is for dense data; this is a sparse matrix")
    return X
