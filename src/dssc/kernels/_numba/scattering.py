"""The scattering transform's multiplication by filters."""

from dssc.kernels._numba.compiling import leaf


@leaf
def filter_and_fold(transforms, filters, factor, out):
    """Write each transform times each filter, summed over frequencies that fold onto one.

    The last axis holds real and imaginary parts in turn, filters having each weight twice, so that
    the inner loop is one vector instruction after the other. Threads take blocks of images.
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
