"""The scattering transform's multiplication by filters."""

import numpy as np

from dssc._typing import Array
from dssc.kernels.compiling import leaf


@leaf
def filter_and_fold(transforms: Array, filters: Array, factor: int, out: Array) -> None:
    """Write each transform times each filter, summed over the frequencies that fold onto one.

    The last axis alternates real and imaginary parts, and the filters repeat each weight for both,
    so that the inner loop vectorises. With weights divided by ``factor**2``, the inverse transform
    of `out` is the filtered image at every factor-th pixel. Callers give each thread its own block
    of images.
    """
    n, height, width = transforms.shape[0], out.shape[2], out.shape[3]
    for f in range(filters.shape[0]):
        for y in range(height):
            for fold_y in range(factor):
                row = y + fold_y * height
                for fold_x in range(factor):
                    column = fold_x * width
                    weights = filters[f, row, column : column + width]
                    largest = np.float32(0.0)
                    for x in range(width):
                        largest = max(largest, abs(weights[x]))
                    if fold_y == 0 and fold_x == 0:
                        for i in range(n):
                            for x in range(width):
                                out[i, f, y, x] = weights[x] * transforms[i, row, x]
                    elif largest > 0.0:  # most strips of a coarse filter have no weight
                        for i in range(n):
                            for x in range(width):
                                out[i, f, y, x] += weights[x] * transforms[i, row, column + x]
