"""The paper's scattered features, from images to unit rows."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import gen_batches

from dssc._cluster_rows import whole_rows
from dssc._devices import is_dask, is_tensor, torch_device
from dssc._typing import Array
from dssc.features.cache import cached
from dssc.features.pca import pca_features
from dssc.features.scaling import unit_norm
from dssc.features.scattering import n_paths, scattering_features
from dssc.images import check_image_shape, check_images, resize_images

if TYPE_CHECKING:
    import torch

# Height and width that images are resized to.
SIDE = 32
# Number of scales of the wavelets.
J = 3
# Number of rotations of the wavelets.
L = 8
# Images that are resized and scattered together.
CHUNK = 4096
# Part of the cache's key; to be raised when the features change.
CACHE_VERSION = 3


def scattered_features(
    images: "ArrayLike | torch.Tensor",
    n_components: int = 500,
    *,
    cache: bool = True,
    cache_home: str | Path | None = None,
    device: str | None = None,
) -> "Array | torch.Tensor":
    """Return the features the paper clusters: scattering, uncentred PCA, unit norm.

    Images are resized to 32 x 32 (bilinear) and scattered with 3 scales and 8 rotations. Each path
    of each image is divided by its largest magnitude, and the coefficients are projected on
    `n_components` directions. The colours of an image are scattered separately.

    Parameters
    ----------
    images : array-like of shape (n_images, height, width) or (n_images, height, width, channels)
        Images. A Dask array is scattered by its workers, chunk by chunk.
    n_components : int, default=500
        Number of features.
    cache : bool, default=True
        Whether to keep the result in a file for later calls; not for a Dask array.
    cache_home : str or path, optional
        Folder of the file: by default the environment variable DSSC_CACHE, else
        ``~/.cache/dssc``.
    device : {"cpu", "cuda", "cuda:<number>", "torch"} or None, default=None
        ``"cuda"`` computes on a GPU, leaves the result there and does not cache it. None uses the
        GPU if the images are a tensor on it, and the CPU otherwise.

    Returns
    -------
    X : ndarray or torch.Tensor of shape (n_images, n_components), float32
        Rows of norm one; a tensor if torch computed it, a Dask array if the images are one. For the
        directions such images are read twice at once, and again whenever chunks of the result are
        computed. So write the result to a file, or call its method ``persist``, before `fit`.
    """
    if is_dask(images):
        return _scattered_chunks(images, n_components, device)
    if (engine := torch_device(device, images)) is not None:
        from dssc.features.scattered_torch import scattered_on_device

        stack = cast("torch.Tensor", images) if is_tensor(images) else check_images(images)
        return scattered_on_device(stack, SIDE, J, L, n_components, engine)
    array = check_images(images)

    def compute() -> Array:
        return unit_norm(pca_features(scatter_in_chunks(array), n_components))

    if not cache:
        return compute()
    parameters = {"n_components": n_components, "version": CACHE_VERSION}
    return cached("scattered", compute, inputs=array, parameters=parameters, cache_home=cache_home)


def _scattered_chunks(images: Any, n_components: int, device: str | None) -> Any:
    """Return the features of a Dask array of images, as another one."""
    if device not in (None, "cpu"):
        raise ValueError(
            f"device={device!r} cannot be used for a Dask array, which is scattered on CPUs; use "
            "device=None"
        )
    images = whole_rows(images)
    check_image_shape(images.shape)
    coefficients = images.map_blocks(
        scatter_in_chunks,
        drop_axis=list(range(2, images.ndim)),
        chunks=(images.chunks[0], (n_coefficients(images),)),
        dtype=np.float32,
        meta=np.empty((0, 0), np.float32),
        token="dssc-scattering",
    )
    features: Any = pca_features(coefficients, n_components)
    return features.map_blocks(unit_norm, dtype=np.float32, meta=np.empty((0, 0), np.float32))


def scatter_in_chunks(images: Array) -> Array:
    """Return the scattering coefficients of images, which are resized chunk by chunk.

    Only the coefficients are ever held for all images.
    """
    features = np.empty((len(images), n_coefficients(images)), dtype=np.float32)
    for chunk in gen_batches(len(images), CHUNK):
        resized = resize_images(images[chunk].astype(np.float32), (SIDE, SIDE))
        features[chunk] = scattering_features(resized, J, L)
    return features


def n_coefficients(images: Array) -> int:
    """Return the number of scattering coefficients per image, before the projection."""
    channels = 1 if images.ndim == 3 else images.shape[3]
    return channels * n_paths(J, L) * (SIDE >> J) ** 2
