"""The scattering transform's loops, over many images at once."""

import numpy as np

from dssc._typing import Array
from dssc.kernels.fourier import LANES, Plan
from dssc.kernels.scattering import Filters


def half_spectrum(
    image: Array, by_column: Plan, by_row: Plan, lines: tuple[Array, Array], out: Array
) -> None:
    """Write the Fourier transform of a real map for all row and half of the column frequencies."""
    spectrum = np.fft.rfft2(image, axes=(0, 1))
    out[..., :LANES], out[..., LANES:] = spectrum.real, spectrum.imag


def filtered_moduli(
    spectrum: Array,
    filters: Filters,
    by_column: Plan,
    by_row: Plan,
    lines: tuple[Array, Array],
    work: Array,
    out: Array,
) -> None:
    """Write the moduli of a map with each filter applied, on a coarser grid."""
    n_filters, height, width, n_images = out.shape
    folded = np.zeros((n_filters, height, width, n_images), dtype=complex)
    for f, x in np.ndindex(n_filters, width):
        entries = slice(filters.starts[f, x], filters.starts[f, x + 1])
        numbers = spectrum[filters.sources[entries]]
        re = filters.weights[entries, None] * numbers[:, :LANES]
        im = filters.mirrored[entries, None] * numbers[:, LANES:]
        np.add.at(folded[f, :, x], filters.rows[entries], re + 1j * im)
    out[:] = np.abs(np.fft.ifft2(folded, axes=(1, 2), norm="forward"))


def smooth(maps: Array, by_column: Array, by_row: Array, sums: Array, out: Array) -> None:
    """Write maps of which every column was multiplied by one matrix and every row by another."""
    out[:] = np.einsum("myxv,yp,xo->mpov", maps, by_column, by_row)
