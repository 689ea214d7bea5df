"""The paper's scattered features, from images to unit rows."""

import numpy as np

from dssc._devices import is_tensor, torch_device
from dssc.features.cache import cached
from dssc.features.pca import pca_features
from dssc.features.scaling import unit_norm
from dssc.features.scattering import scattering_features
from dssc.images import check_images, resize_images

SIDE, J, L = 32, 3, 8
CHUNK = 4096  # images resized and scattered at a time
VERSION = 1


def scattered_features(
    images, n_components: int = 500, *, cache=True, cache_home=None, device=None
):
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
    device : {"cpu", "cuda", "cuda:<number>", "torch"} or None, default=None
        ``"cuda"`` computes on a GPU and leaves the result there, uncached; by default images that
        are a tensor on a GPU do.

    Returns
    -------
    X : ndarray or torch.Tensor of shape (n_images, n_components), float32
        Rows of norm one; a tensor where torch made it.
    """
    if (on := torch_device(device, images)) is not None:
        from dssc.features.on_device import scattered_on_device

        images = images if is_tensor(images) else check_images(images)
        return scattered_on_device(images, SIDE, J, L, n_components, on)
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
        part = scattering_features(chunk, J, L)
        if features is None:
            features = np.empty((len(images), part.shape[1]), dtype=np.float32)
        features[start : start + CHUNK] = part
    return features
