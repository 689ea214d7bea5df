"""The scattering transform's loops, over many images at once: the last axis of maps is the image.

There are as many images as :data:`dssc.kernels.fourier.LANES`; where numbers are complex, their
real parts come first and the imaginary parts of all images after them. Callers give each thread its
own images.
"""

from typing import NamedTuple

import numpy as np

from dssc._typing import Array
from dssc.kernels.compiling import leaf
from dssc.kernels.fourier import HALF, LANES, Plan, transform

ZERO = np.float32(0.0)


class Filters(NamedTuple):
    """The weights of some filters that are not zero, column by column of the folded spectrum.

    Attributes
    ----------
    starts : ndarray of shape (n_filters, n_columns + 1), int64
        Where the weights of every column begin.
    rows : ndarray of shape (n_weights,), int64
        The row that a weight belongs to in the folded spectrum.
    sources : ndarray of shape (n_weights,), int64
        The frequency it multiplies, as a place in the flattened half spectrum.
    weights, mirrored : ndarray of shape (n_weights,), float32
        The weight, and the same with another sign where the half spectrum holds the conjugate.
    """

    starts: Array
    rows: Array
    sources: Array
    weights: Array
    mirrored: Array


@leaf
def half_spectrum(
    image: Array, by_column: Plan, by_row: Plan, lines: tuple[Array, Array], out: Array
) -> None:
    """Write the Fourier transform of a real map for all row and half of the column frequencies.

    Two rows are transformed as the real and imaginary parts of one line. Their number is even.
    `lines` are the space for two lines.
    """
    height, width, lanes = image.shape
    for y in range(0, height, 2):
        line = lines[0][:width]
        for x in range(width):
            for v in range(lanes):
                line[x, v] = image[y, x, v]
            for v in range(lanes):
                line[x, LANES + v] = image[y + 1, x, v]
        _separate(transform(line, by_row, lines[1][:width]), by_row.places, y, out)
    for k in range(width // 2 + 1):
        line = lines[0][:height]
        for y in range(height):
            for v in range(2 * lanes):
                line[y, v] = out[y, k, v]
        found = transform(line, by_column, lines[1][:height])
        for y in range(height):
            at = by_column.places[y]
            for v in range(2 * lanes):
                out[y, k, v] = found[at, v]


@leaf
def _separate(found: Array, places: Array, y: int, out: Array) -> None:
    """Write the transforms of two real rows, from y on, from that of their complex sum."""
    lanes = out.shape[2] // 2
    for k in range(out.shape[1]):
        at, opposite = places[k], places[(len(places) - k) % len(places)]
        for v in range(lanes):
            out[y, k, v] = HALF * (found[at, v] + found[opposite, v])
        for v in range(lanes):
            out[y, k, LANES + v] = HALF * (found[at, LANES + v] - found[opposite, LANES + v])
        for v in range(lanes):
            out[y + 1, k, v] = HALF * (found[at, LANES + v] + found[opposite, LANES + v])
        for v in range(lanes):
            out[y + 1, k, LANES + v] = HALF * (found[opposite, v] - found[at, v])


@leaf
def filtered_moduli(
    spectrum: Array,
    filters: Filters,
    by_column: Plan,
    by_row: Plan,
    lines: tuple[Array, Array],
    work: Array,
    out: Array,
) -> None:
    """Write the moduli of a map with each filter applied, on a coarser grid.

    The weights must be divided by the number of points of that grid. Real and imaginary parts are
    exchanged, which turns the inverse transform into the forward one.
    """
    n_filters, height, width, lanes = out.shape
    for f in range(n_filters):
        for x in range(width):
            line = lines[0][:height]
            _fold(spectrum, filters, f, x, line)
            found = transform(line, by_column, lines[1][:height])
            for y in range(height):
                at = by_column.places[y]
                for v in range(2 * lanes):
                    work[y, x, v] = found[at, v]
        for y in range(height):
            found = transform(work[y], by_row, lines[1][:width])
            for x in range(width):
                at = by_row.places[x]
                for v in range(lanes):
                    re, im = found[at, v], found[at, LANES + v]
                    out[f, y, x, v] = np.sqrt(re * re + im * im)


@leaf
def _fold(spectrum: Array, filters: Filters, f: int, column: int, line: Array) -> None:
    """Write one column of a filtered spectrum, summed over the frequencies that fold onto one."""
    starts, rows, sources, weights, mirrored = filters
    lanes = line.shape[1] // 2
    line[:] = ZERO
    for e in range(starts[f, column], starts[f, column + 1]):
        row, source, for_re, for_im = rows[e], sources[e], mirrored[e], weights[e]
        for v in range(lanes):
            line[row, v] += for_re * spectrum[source, LANES + v]
        for v in range(lanes):
            line[row, LANES + v] += for_im * spectrum[source, v]


@leaf
def smooth(maps: Array, by_column: Array, by_row: Array, sums: Array, out: Array) -> None:
    """Write maps of which every column was multiplied by one matrix and every row by another."""
    n_maps, height, width, lanes = maps.shape
    for m in range(n_maps):
        out[m] = ZERO
        for y in range(height):
            sums[:] = ZERO
            for x in range(width):
                for o in range(by_row.shape[1]):
                    weight = by_row[x, o]
                    for v in range(lanes):
                        sums[o, v] += weight * maps[m, y, x, v]
            for p in range(by_column.shape[1]):
                weight = by_column[y, p]
                for o in range(by_row.shape[1]):
                    for v in range(lanes):
                        out[m, p, o, v] += weight * sums[o, v]
