"""The paper's scattered features, from images to unit rows."""

import numpy as np

from dssc.features.cache import cached
from dssc.features.pca import pca_features
from dssc.features.scaling import unit_norm
from dssc.features.scattering import scattering_features
from dssc.images import resize_images

SIDE = 32
CHUNK = 4096  # images resized and scattered at a time
VERSION = 1


def scattered_features(images, n_components: int = 500, *, cache=True, cache_home=None):
    """Return the features the paper clusters: scattering, uncentred PCA, unit norm.

    Images are resized to 32 x 32 (bilinear), scattered with 3 scales and 8 rotations, each path of
    each image is divided by its largest magnitude, and the coefficients are projected on
    `n_components` directions. The colours of an image are scattered one by one.

    Parameters
    ----------
    images : array-like of shape (n_images, height, width) or (n_images, height, width, channels)
        Images.
    n_components : int, default=500
        Number of features.
    cache : bool, default=True
        Whether to keep the result in a file for the next time.
    cache_home : str or path, optional
        Where; the environment variable DSSC_CACHE, or else ``~/.cache/dssc``, when not given.

    Returns
    -------
    X : ndarray of shape (n_images, n_components), float32
        Rows of norm one.
    """
    images = np.asarray(images)

    def compute():
        return unit_norm(pca_features(_scatter(images), n_components))

    if not cache:
        return compute()
    parameters = {"n_components": n_components, "version": VERSION}
    return cached("scattered", compute, inputs=images, parameters=parameters, cache_home=cache_home)


def _scatter(images):
    """Scatter in chunks, so that only the coefficients are ever held for all images."""
    features = None
    for start in range(0, len(images), CHUNK):
        chunk = resize_images(images[start : start + CHUNK].astype(np.float32), (SIDE, SIDE))
        part = scattering_features(chunk)
        if features is None:
            features = np.empty((len(images), part.shape[1]), dtype=np.float32)
        features[start : start + CHUNK] = part
    return features
