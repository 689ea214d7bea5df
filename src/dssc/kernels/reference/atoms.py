"""Finding the atoms that correlate most with given residuals, in a tile of products."""

import numpy as np

from dssc._typing import Array


def largest_magnitudes(
    products: Array, own: Array, indptr: Array, indices: Array, values: Array, places: Array
) -> None:
    """Write the largest magnitudes of every row and their columns, in no particular order."""
    values[:], places[:] = -1, -1
    for i, row in enumerate(np.abs(products)):
        left_out = [own[i], *indices[indptr[i] : indptr[i + 1]]]
        allowed = np.setdiff1d(np.arange(len(row)), left_out)
        best = allowed[np.argsort(-row[allowed], kind="stable")][: values.shape[1]]
        values[i, : len(best)], places[i, : len(best)] = row[best], best


def exact_products(X: Array, residuals: Array, places: Array, out: Array) -> None:
    """Write ``x_j . r_i`` in float64 for every place j of row i, and zero where j is -1."""
    products = np.einsum("ijk,ik->ij", X[places], residuals)
    out[:] = np.where(places >= 0, products, 0.0)
