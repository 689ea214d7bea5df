"""Finding the atoms that correlate most with given residuals, in a tile of products."""

import numpy as np
from numba import prange

from dssc._typing import Array
from dssc.kernels.arithmetic import dot
from dssc.kernels.compiling import parallel
from dssc.kernels.heap import sift_down


@parallel
def largest_magnitudes(
    products: Array, own: Array, indptr: Array, indices: Array, values: Array, places: Array
) -> None:
    """Write the largest magnitudes of every row and their columns, in no particular order.

    A row's own sample, column ``own[i]``, and the columns stored in (`indptr`, `indices`) are left
    out. Where a row has fewer entries than `values` has columns, the remaining values and places
    are -1. `products` is overwritten.
    """
    k = values.shape[1]
    for i in prange(len(products)):
        row = products[i]
        # Comparisons with NaN are false, so an entry set to NaN is never taken.
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
def exact_products(X: Array, residuals: Array, places: Array, out: Array) -> None:
    """Write ``x_j . r_i`` in float64 for every place j of row i, and zero where j is -1."""
    for i in prange(len(places)):
        for e in range(places.shape[1]):
            j = places[i, e]
            out[i, e] = dot(X[j], residuals[i]) if j >= 0 else 0.0
