"""Finding the largest products in a tile: kernels of every search for neighbours or atoms."""

import numpy as np
from numba import prange

from dssc.kernels._numba.arithmetic import dot
from dssc.kernels._numba.compiling import parallel
from dssc.kernels._numba.selection import sift_down


@parallel
def largest_magnitudes(products, own, indptr, indices, values, places):
    """Write the entries of largest magnitude of every row, in no particular order.

    The entry of the row's own sample and those stored in (`indptr`, `indices`) are passed over.
    Where fewer entries are left than there is room for, the value and the place are -1.
    `products` is overwritten.
    """
    k = values.shape[1]
    for i in prange(len(products)):
        row = products[i]
        # NaN loses every comparison, so what it marks is never taken.
        row[own[i]] = np.nan
        for e in range(indptr[i], indptr[i + 1]):
            row[indices[e]] = np.nan
        values[i] = -1.0
        places[i] = -1
        for j in range(len(row)):
            magnitude = abs(row[j])
            if magnitude > values[i, 0]:
                values[i, 0] = magnitude
                places[i, 0] = j
                sift_down(values[i], places[i], 0, k)


@parallel
def exact_products(X, residuals, places, out):
    """Write ``x_j . r_i`` in float64 for every place j of row i; zero where the place is -1."""
    for i in prange(len(places)):
        for e in range(places.shape[1]):
            j = places[i, e]
            out[i, e] = dot(X[j], residuals[i]) if j >= 0 else 0.0
