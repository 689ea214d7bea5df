"""The scattering transform's multiplication by filters."""

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
    height, width = out.shape[2], out.shape[3]
    for i in range(transforms.shape[0]):
        for f in range(filters.shape[0]):
            for y in range(height):
                row = out[i, f, y]
                row[:] = 0.0
                for fold_y in range(factor):
                    for fold_x in range(factor):
                        columns = slice(fold_x * width, (fold_x + 1) * width)
                        weight = filters[f, y + fold_y * height, columns]
                        source = transforms[i, y + fold_y * height, columns]
                        for x in range(width):
                            row[x] += weight[x] * source[x]
