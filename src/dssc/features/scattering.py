"""The scattering transform: wavelets, modulus, smoothing, twice."""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from scipy import fft
from threadpoolctl import threadpool_limits

from dssc import kernels
from dssc.features.filters import FilterBank, filter_bank
from dssc.images import check_images

BLOCK = 16  # images at a time: the arrays of one block stay in cache


def scattering_features(images, J: int = 3, L: int = 8, *, normalize=True, n_jobs=None):
    r"""Compute the two-dimensional Morlet scattering transform of images, to the second order.

    For an image x, wavelets :math:`\psi_\lambda` of J scales and L rotations and a Gaussian
    :math:`\phi`, the coefficients are :math:`x * \phi`,
    :math:`|x * \psi_\lambda| * \phi` and :math:`||x * \psi_\lambda| * \psi_\mu| * \phi` with
    :math:`\mu` coarser than :math:`\lambda`, each on a grid :math:`2^J` times coarser than the
    image. They change little when the image is shifted or deformed a little (Bruna and Mallat,
    2013), which brings images of one class closer to one subspace.

    Parameters
    ----------
    images : array-like of shape (n_images, height, width) or (n_images, height, width, channels)
        Images whose sides are multiples of ``2**J``; :func:`dssc.resize_images` makes them so.
    J : int, default=3
        Number of scales.
    L : int, default=8
        Number of rotations.
    normalize : bool, default=True
        Whether to divide each path of each image, the map of one sequence of wavelets, by its
        largest magnitude, as the paper does. A path that is zero stays so.
    n_jobs : int, optional
        Number of threads, one for each processor when not given.

    Returns
    -------
    features : ndarray of shape (n_images, n_features), float32
        Channel after channel, path after path: ``1 + L J + L^2 J (J - 1) / 2`` paths of
        ``height / 2^J * width / 2^J`` numbers; 3,472 for a gray image of 32 x 32.
    """
    images = _planes(images, J, L)
    n, channels, height, width = images.shape
    bank = filter_bank(height, width, J, L)
    n_paths = 1 + L * J + L**2 * J * (J - 1) // 2
    size = (height >> J) * (width >> J)
    features = np.empty((n * channels, n_paths, size), dtype=np.float32)
    planes = images.reshape(n * channels, height, width)
    kernel = kernels.select()

    def fill(start):
        block = slice(start, start + BLOCK)
        _scatter(planes[block], bank, kernel, features[block])
        if normalize:
            _normalize(features[block])

    # The small products of each thread must not start threads of their own.
    with threadpool_limits(1, "blas"), ThreadPoolExecutor(n_jobs or os.cpu_count()) as pool:
        list(pool.map(fill, range(0, n * channels, BLOCK)))
    return features.reshape(n, -1)


def _scatter(planes, bank: FilterBank, kernel, out):
    """Write the coefficients of a block of images to `out` (n_images, n_paths, size)."""
    J = len(bank.wavelets)
    rows, columns = bank.padding
    x = np.pad(planes.astype(np.float32), ((0, 0), (rows, rows), (columns, columns)), "reflect")
    out[:, 0] = _smooth(x, bank, 0)
    X = fft.fft2(x)
    first, second = 1, 1 + J * len(bank.wavelets[0][0])
    orders = []
    for j1 in range(J):
        U1 = _moduli(X, bank.wavelets[j1][0], 2**j1, kernel)
        first = _put(out, first, _smooth(U1, bank, j1))
        transforms = fft.fft2(U1).reshape(-1, *U1.shape[-2:])
        orders.append(
            [
                _smooth(
                    _moduli(transforms, bank.wavelets[j2][j1], 2 ** (j2 - j1), kernel), bank, j2
                )
                for j2 in range(j1 + 1, J)
            ]
        )
    for coefficients in orders:
        second = _put_second(out, second, coefficients)


def _moduli(transforms, filters, factor, kernel):
    """Return the moduli of filtered, subsampled images, (n_images, n_filters, height, width)."""
    n, height, width = transforms.shape
    shape = (n, len(filters), height // factor, width // factor)
    product = np.empty(shape, dtype=np.complex64)
    kernel.filter_and_fold(_as_real(transforms), filters, factor, _as_real(product))
    return np.abs(fft.ifft2(product, overwrite_x=True))


def _as_real(transforms):
    return transforms.view(np.float32)


def _smooth(U, bank, resolution):
    return U.reshape(*U.shape[:-2], -1) @ bank.lowpass[resolution]


def _put(out, start, coefficients):
    """Write (n_images, n_paths, size) coefficients from path `start` on; return where they end."""
    stop = start + coefficients.shape[1]
    out[:, start:stop] = coefficients
    return stop


def _put_second(out, start, coefficients):
    """Write second-order coefficients, given one array a scale, wavelet by first wavelet."""
    if not coefficients:
        return start
    n, _, size = out.shape
    by_scale = [c.reshape(n, -1, *c.shape[-2:]) for c in coefficients]
    joined = np.concatenate(by_scale, axis=2)
    return _put(out, start, joined.reshape(n, -1, size))


def _normalize(paths):
    largest = np.abs(paths).max(axis=2, keepdims=True)
    np.divide(paths, largest, out=paths, where=largest > 0)


def _planes(images, J, L):
    """Return checked images with their channels before their pixels."""
    images = check_images(images)
    if J < 1 or L < 1:
        raise ValueError(f"J={J} and L={L} must be at least 1")
    if any(side % 2**J or side < 2**J for side in images.shape[1:3]):
        raise ValueError(
            f"images of {images.shape[1]} x {images.shape[2]} have sides that are not multiples of "
            f"2**J = {2**J}; resize them with resize_images"
        )
    if not np.all(np.isfinite(images)):
        raise ValueError("images hold NaN or infinite values; replace or remove them")
    return images[:, None] if images.ndim == 3 else np.moveaxis(images, 3, 1)
