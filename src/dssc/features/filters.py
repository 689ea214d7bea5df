"""The Morlet filter bank of the scattering transform, in the Fourier domain.

Filters are real there, because the wavelets are Gaussians and plane waves centred at the origin.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dssc._typing import Array
from dssc.kernels.scattering import Filters

# Width of the finest wavelet and, at scale J - 1, of the low-pass filter.
SIGMA = 0.8
# Frequency of the finest wavelet.
FREQUENCY = 0.75 * np.pi
# Shifted copies, in periods of the grid, that are summed to make a filter periodic.
PERIODS = range(-2, 3)
# The reference transform (kymatio) divides by this instead of pi; we match its coefficients.
NORM_PI = 3.1415


# Weights below this, relative to a filter's largest, are zero: float32 does not notice them.
NEGLIGIBLE = 1e-8


@dataclass(frozen=True)
class FilterBank:
    """Wavelets and low-pass matrices for images of one size.

    Attributes
    ----------
    border : tuple of ndarrays
        Rows and columns of an image with a reflected border around it, as ``image[rows, columns]``.
    wavelets : tuple of tuples of ndarrays
        ``wavelets[j][resolution]`` holds the transforms of the L rotated wavelets of scale j on the
        grid subsampled `resolution` times by two, divided by the number of frequencies that fold
        onto one at scale j.
    lowpass : tuple of pairs of ndarrays
        ``lowpass[resolution]`` smooths an image on that grid, subsamples it to the coarsest grid
        and cuts the border off: the first matrix multiplies every column from the right, the second
        one every row.
    """

    border: tuple[Array, Array]
    wavelets: tuple[tuple[Array, ...], ...]
    lowpass: tuple[tuple[Array, Array], ...]


@lru_cache(maxsize=8)
def filter_bank(height: int, width: int, J: int, L: int) -> FilterBank:
    """Build the filters for images of a size, with J scales and L rotations."""
    padded = ((height // 2**J + 2) * 2**J, (width // 2**J + 2) * 2**J)
    wavelets = []
    for j in range(J):
        rotations = np.stack([_morlet(padded, j, rotation, L) for rotation in range(L)])
        wavelets.append(
            tuple(
                _crop(rotations, resolution) / 4 ** (j - resolution) for resolution in range(j + 1)
            )
        )
    lowpass = tuple(
        # The Gaussian is separable.
        (
            _lowpass_matrix(padded[0], J, resolution).T.astype(np.float32),
            _lowpass_matrix(padded[1], J, resolution).T.astype(np.float32),
        )
        for resolution in range(J)
    )
    rows, columns = (
        np.pad(np.arange(size), (larger - size) // 2, "reflect")
        for size, larger in zip((height, width), padded, strict=True)
    )
    return FilterBank(
        border=(rows[:, None], columns),
        wavelets=tuple(wavelets),
        lowpass=lowpass,
    )


def nonzero_weights(wavelets: Array, factor: int) -> Filters:
    """Return the weights of wavelets that are not zero, for images subsampled by a factor.

    They are divided by the number of points that are left.
    """
    n, height, width = wavelets.shape
    coarse = height // factor, width // factor
    f, column, row = np.nonzero(wavelets.transpose(0, 2, 1))
    order = np.lexsort((column, row, column % coarse[1], f))
    f, column, row = f[order], column[order], row[order]
    half = width // 2 + 1
    is_conjugate = column >= half
    ends = np.bincount(f * coarse[1] + column % coarse[1], minlength=n * coarse[1]).cumsum()
    ends = np.concatenate([[0], ends])
    weights = (wavelets[f, row, column] / (coarse[0] * coarse[1])).astype(np.float32)
    return Filters(
        starts=ends[np.arange(n)[:, None] * coarse[1] + np.arange(coarse[1] + 1)],
        rows=row % coarse[0],
        sources=np.where(is_conjugate, -row % height, row) * half
        + np.where(is_conjugate, width - column, column),
        weights=weights,
        mirrored=np.where(is_conjugate, -weights, weights),
    )


def _morlet(shape: tuple[int, int], j: int, rotation: int, L: int) -> Array:
    """Return the transform of a wavelet: a Gabor function, corrected to have mean zero."""
    angle = (L // 2 - 1 - rotation) * np.pi / L
    sigma, frequency, slant = SIGMA * 2**j, FREQUENCY / 2**j, 4.0 / L
    wave = _gabor(shape, sigma, angle, frequency, slant)
    envelope = _gabor(shape, sigma, angle, 0.0, slant)
    return np.fft.fft2(wave - wave.sum() / envelope.sum() * envelope).real


def _gabor(
    shape: tuple[int, int], sigma: float, angle: float, frequency: float, slant: float
) -> Array:
    """Return a plane wave under an elongated Gaussian, summed over periods of the grid."""
    rotation = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    curvature = rotation @ np.diag([1.0, slant**2]) @ rotation.T / (2 * sigma**2)
    height, width = shape
    total = np.zeros(shape, dtype=np.complex128)
    for up in PERIODS:
        for left in PERIODS:
            y, x = np.mgrid[:height, :width]
            y, x = y + up * height, x + left * width
            exponent = curvature[0, 0] * y**2 + 2 * curvature[0, 1] * x * y + curvature[1, 1] * x**2
            phase = frequency * (y * np.cos(angle) + x * np.sin(angle))
            total += np.exp(-exponent + 1j * phase)
    return total * slant / (2 * NORM_PI * sigma**2)


def _crop(transforms: Array, resolution: int) -> Array:
    """Return filters on a coarser grid: only low frequencies and weights that matter are kept."""
    for axis in (1, 2):
        size = transforms.shape[axis]
        transforms = transforms.take(_kept_frequencies(size, resolution), axis=axis)
    largest = np.abs(transforms).max(axis=(1, 2), keepdims=True)
    is_large = np.abs(transforms) > NEGLIGIBLE * largest
    return np.where(is_large, transforms, 0.0).astype(np.float32)


def _kept_frequencies(size: int, resolution: int) -> Array:
    half = (size >> resolution) // 2
    return np.concatenate([np.arange(half), np.arange(size - half, size)])


def _lowpass_matrix(size: int, J: int, resolution: int) -> Array:
    """Return the one-dimensional Gaussian as a matrix from a grid to the coarsest one, cropped."""
    sigma = SIGMA * 2 ** (J - 1)
    position = np.arange(size)[None, :] + size * np.array(PERIODS)[:, None]
    gaussian = np.exp(-(position**2) / (2 * sigma**2)).sum(axis=0) / (np.sqrt(2 * NORM_PI) * sigma)
    transform = np.fft.fft(gaussian).real
    kernel = np.fft.ifft(transform[_kept_frequencies(size, resolution)]).real
    coarse = size >> resolution
    outputs = np.arange(0, coarse, 2 ** (J - resolution))[1:-1]
    shift = (outputs[:, None] - np.arange(coarse)[None, :]) % coarse
    return kernel[shift]
