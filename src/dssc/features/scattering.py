"""The scattering transform: wavelets, modulus, smoothing, twice."""

from functools import lru_cache
from threading import local
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import gen_batches

from dssc import kernels
from dssc._threads import block_threads
from dssc._typing import Array
from dssc.features.filters import filter_bank, nonzero_weights
from dssc.features.fourier import fourier_plan
from dssc.images import check_images
from dssc.kernels.fourier import LANES, WIDTH, Plan
from dssc.kernels.scattering import Filters


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
    size = (height >> J) * (width >> J)
    features = np.empty((n * channels, n_paths(J, L), size), dtype=np.float32)
    planes = channels_first.reshape(n * channels, height, width)
    layers = _layers(height, width, J, L)
    own = local()

    def fill(block: slice) -> None:
        if not hasattr(own, "scatter"):
            own.scatter = BlockScattering(layers)
        lanes, exponents = _lanes(planes[block], layers.border)
        paths = np.moveaxis(own.scatter(lanes), -1, 0)[: len(exponents)]
        if normalize:
            largest = np.abs(paths).max(axis=2, keepdims=True)
            np.divide(paths, np.where(largest > 0, largest, 1.0), out=features[block])
        else:
            np.ldexp(paths, exponents, out=features[block])

    with block_threads(n_jobs or kernels.n_threads()) as map_blocks:
        list(map_blocks(fill, gen_batches(n * channels, LANES)))
    return features.reshape(n, -1)


def n_paths(J: int, L: int) -> int:
    """Return the number of paths up to the second order, for J scales and L rotations."""
    return 1 + L * J + L**2 * J * (J - 1) // 2


class Layers(NamedTuple):
    """All that the transform of images of one size needs.

    Attributes
    ----------
    border : tuple of ndarrays
        As in `FilterBank`.
    filters : tuple of tuples of Filters
        The wavelets of scale j on the grid of a resolution: ``filters[j][resolution]``.
    plans : tuple of pairs of Plan
        How columns and rows are transformed, for each resolution.
    lowpass : tuple of pairs of ndarrays
        As in `FilterBank`.
    """

    border: tuple[Array, Array]
    filters: tuple[tuple[Filters, ...], ...]
    plans: tuple[tuple[Plan, Plan], ...]
    lowpass: tuple[tuple[Array, Array], ...]


@lru_cache(maxsize=8)
def _layers(height: int, width: int, J: int, L: int) -> Layers:
    """Return the layers for images of one size."""
    bank = filter_bank(height, width, J, L)
    height, width = bank.wavelets[0][0].shape[1:]
    return Layers(
        border=bank.border,
        filters=tuple(
            tuple(nonzero_weights(w, 2 ** (j - r)) for r, w in enumerate(bank.wavelets[j]))
            for j in range(J)
        ),
        plans=tuple((fourier_plan(height >> r), fourier_plan(width >> r)) for r in range(J)),
        lowpass=bank.lowpass,
    )


class BlockScattering:
    """Scatters one block of images after the other; every thread has its own.

    Parameters
    ----------
    layers : Layers
        What images of this size need.
    """

    def __init__(self, layers: Layers):
        self.layers = layers
        self.J, self.L = len(layers.plans), len(layers.filters[0][0].starts)
        sizes = [tuple(len(plan.places) for plan in plans) for plans in layers.plans]
        by_column, by_row = layers.lowpass[0]
        self.lines = tuple(_empty(max(sizes[0]), WIDTH) for _ in range(2))
        self.sums = _empty(by_row.shape[1], LANES)
        self.spectra = [_empty(h, w // 2 + 1, WIDTH) for h, w in sizes]
        self.work = [_empty(h, w, WIDTH) for h, w in sizes]
        self.first = [_empty(self.L, h, w, LANES) for h, w in sizes]
        self.second = [_empty(self.L, h, w, LANES) for h, w in sizes]
        self.paths = _empty(n_paths(self.J, self.L), by_column.shape[1], by_row.shape[1], LANES)

    def __call__(self, images: Array) -> Array:
        """Return the paths of images with their border, (n_paths, size, LANES); overwritten next.

        The images have the shape (height, width, LANES).
        """
        J, L = self.J, self.L
        self._smooth(images[None], 0, 0)
        self._transform(images, 0)
        for j1 in range(J):
            self._moduli(0, j1, self.first[j1])
            self._smooth(self.first[j1], j1, 1 + j1 * L)
        path = 1 + J * L
        for j1 in range(J - 1):
            for U1 in self.first[j1]:
                self._transform(U1, j1)
                for j2 in range(j1 + 1, J):
                    self._moduli(j1, j2, self.second[j2])
                    self._smooth(self.second[j2], j2, path)
                    path += L
        return self.paths.reshape(len(self.paths), -1, LANES)

    def _transform(self, image: Array, resolution: int) -> None:
        plans = self.layers.plans[resolution]
        kernels.half_spectrum(image, *plans, self.lines, self.spectra[resolution])

    def _moduli(self, resolution: int, j: int, out: Array) -> None:
        """Write the moduli of the image that was transformed, with the wavelets of scale j."""
        spectrum = self.spectra[resolution].reshape(-1, WIDTH)
        filters, plans = self.layers.filters[j][resolution], self.layers.plans[j]
        kernels.filtered_moduli(spectrum, filters, *plans, self.lines, self.work[j], out)

    def _smooth(self, maps: Array, resolution: int, path: int) -> None:
        """Write smoothed maps to the paths from `path` on."""
        out = self.paths[path : path + len(maps)]
        kernels.smooth(maps, *self.layers.lowpass[resolution], self.sums, out)


def _empty(*shape: int) -> Array:
    return np.empty(shape, dtype=np.float32)


def _lanes(planes: Array, border: tuple[Array, Array]) -> tuple[Array, Array]:
    """Return images with their border, one per lane, and the powers of two they are divided by.

    The transform of a multiple is the multiple of the transform, and squares of numbers of any size
    may leave the range of float32.
    """
    planes = planes.astype(np.promote_types(planes.dtype, np.float32), copy=False)
    exponents = np.frexp(np.abs(planes).max(axis=(1, 2)))[1][:, None, None]
    lanes = np.zeros((len(border[0]), len(border[1]), LANES), dtype=np.float32)
    scaled = np.ldexp(planes, -exponents).astype(np.float32)
    lanes[:, :, : len(planes)] = np.moveaxis(scaled[:, *border], 0, -1)
    return lanes, exponents


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
