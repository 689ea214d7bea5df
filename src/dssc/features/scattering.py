"""The scattering transform: wavelets, modulus, smoothing, twice."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import fft
from sklearn.utils import gen_batches

from dssc import kernels
from dssc._threads import block_threads
from dssc._typing import Array
from dssc.features.filters import FilterBank, filter_bank
from dssc.images import check_images

# Images that are scattered together: few enough that their arrays stay in the processor's cache.
BLOCK = 16


def scattering_features(
    images: ArrayLike, J: int = 3, L: int = 8, *, normalize: bool = True, n_jobs: int | None = None
) -> Array:
    r"""Compute the two-dimensional Morlet scattering transform of images, to the second order.

    For an image x, wavelets :math:`\psi_\lambda` of J scales and L rotations and a Gaussian
    :math:`\phi`, the coefficients are :math:`x * \phi`,
    :math:`|x * \psi_\lambda| * \phi` and :math:`||x * \psi_\lambda| * \psi_\mu| * \phi` with
    :math:`\mu` coarser than :math:`\lambda`, each on a grid :math:`2^J` times coarser than the
    image. They change little when the image is slightly shifted or deformed (Bruna and Mallat,
    2013), which brings images of one class closer to one subspace.

    Parameters
    ----------
    images : array-like of shape (n_images, height, width) or (n_images, height, width, channels)
        Images whose sides are multiples of ``2**J``; resize others by :func:`dssc.resize_images`.
    J : int, default=3
        Number of scales.
    L : int, default=8
        Number of rotations.
    normalize : bool, default=True
        Whether to divide each path of each image, the map of one sequence of wavelets, by its
        largest magnitude, as the paper does. A zero path stays zero.
    n_jobs : int, optional
        Number of threads. When not given, as many as numba uses: one per processor, and fewer
        inside a worker of joblib.

    Returns
    -------
    features : ndarray of shape (n_images, n_features), float32
        Ordered by channel, then by path: ``1 + L J + L^2 J (J - 1) / 2`` paths of
        ``height / 2^J * width / 2^J`` numbers; 3,472 for a gray image of 32 x 32.
    """
    channels_first = _channels_first(images, J, L)
    n, channels, height, width = channels_first.shape
    bank = filter_bank(height, width, J, L)
    size = (height >> J) * (width >> J)
    features = np.empty((n * channels, n_paths(J, L), size), dtype=np.float32)
    planes = channels_first.reshape(n * channels, height, width)

    def fill(block: slice) -> None:
        _scatter(planes[block], bank, features[block])
        if normalize:
            _normalize(features[block])

    with block_threads(n_jobs or kernels.n_threads()) as map_blocks:
        list(map_blocks(fill, gen_batches(n * channels, BLOCK)))
    return features.reshape(n, -1)


def n_paths(J: int, L: int) -> int:
    """Return the number of paths up to the second order, for J scales and L rotations."""
    return 1 + L * J + L**2 * J * (J - 1) // 2


def _scatter(planes: Array, bank: FilterBank, out: Array) -> None:
    """Write the coefficients of a block of images to `out` (n_images, n_paths, size)."""
    J, L = len(bank.wavelets), len(bank.wavelets[0][0])
    rows, columns = bank.border
    x = planes[:, rows, columns].astype(np.float32, order="C")
    X = fft.fft2(x)
    out[:, :1] = _smooth(x[:, None], bank, 0)
    end = 1 + J * L  # of the paths of the first order
    for j1 in range(J):
        U1 = _moduli(X, bank.wavelets[j1][0], 2**j1)
        out[:, 1 + j1 * L : 1 + (j1 + 1) * L] = _smooth(U1, bank, j1)
        if j1 == J - 1:
            break
        transforms = fft.fft2(U1).reshape(-1, *U1.shape[-2:])
        start, end = end, end + L * L * (J - 1 - j1)
        # Ordered by the first wavelet, then by the second one.
        paths = out[:, start:end].reshape(len(x), L, J - 1 - j1, L, -1)
        for j2 in range(j1 + 1, J):
            U2 = _moduli(transforms, bank.wavelets[j2][j1], 2 ** (j2 - j1))
            paths[:, :, j2 - j1 - 1] = _smooth(U2, bank, j2).reshape(len(x), L, L, -1)


def _moduli(transforms: Array, filters: Array, factor: int) -> Array:
    """Return the moduli of filtered, subsampled images, (n_images, n_filters, height, width)."""
    n, height, width = transforms.shape
    shape = (n, len(filters), height // factor, width // factor)
    product = np.empty(shape, dtype=np.complex64)
    kernels.filter_and_fold(transforms.view(np.float32), filters, factor, product.view(np.float32))
    return np.abs(fft.ifft2(product, overwrite_x=True))


def _smooth(U: Array, bank: FilterBank, resolution: int) -> Array:
    """Return smoothed maps (n_images, n_maps, size): a product per image, whatever its block."""
    return U.reshape(*U.shape[:-2], -1) @ bank.lowpass[resolution]


def _normalize(paths: Array) -> None:
    largest = np.abs(paths).max(axis=2, keepdims=True)
    np.divide(paths, largest, out=paths, where=largest > 0)


def _channels_first(images: ArrayLike, J: int, L: int) -> Array:
    """Return checked images as (n_images, channels, height, width)."""
    stack = check_images(images)
    if J < 1 or L < 1:
        raise ValueError(f"J={J} and L={L} must be at least 1")
    if any(side % 2**J or side < 2**J for side in stack.shape[1:3]):
        raise ValueError(
            f"images of {stack.shape[1]} x {stack.shape[2]} have sides that are not multiples of "
            f"2**J = {2**J}; resize them with resize_images"
        )
    if not np.all(np.isfinite(stack)):
        raise ValueError("images hold NaN or infinite values; replace or remove them")
    return stack[:, None] if stack.ndim == 3 else np.moveaxis(stack, 3, 1)
