"""Uncentred principal components of a Dask array, chunk by chunk."""

from functools import partial
from typing import Any

import dask
import numpy as np

from dssc._cluster_rows import whole_rows
from dssc._typing import Array
from dssc.features.pca import check_components, leading_eigenvectors


def pca_of_chunks(F: Any, n_components: int) -> Any:
    """Return what :func:`dssc.pca_features` returns, for a Dask array, as another one.

    The directions are computed at once. Only matrices of the size of their product with themselves
    come here; what is of the size of F stays on the workers.
    """
    F = whole_rows(F)
    check_components(F.shape, n_components)
    _, directions = leading_eigenvectors(_gram(F), n_components)
    lowest, highest = _extremes(F, directions)
    directions = directions * np.where(-lowest > highest, -1.0, 1.0)
    dtype = np.dtype(np.float32 if F.dtype == np.float32 else np.float64)
    return F.map_blocks(
        _projected,
        directions=dask.delayed(directions),
        chunks=(F.chunks[0], (n_components,)),
        dtype=dtype,
        meta=np.empty((0, 0), dtype),
        token="dssc-components",
    )


def _gram(F: Any) -> Array:
    """Return ``F'F``, summed in pairs of chunks: few of these matrices exist at a time."""
    parts = [_delayed_product(chunk) for chunk in F.to_delayed().ravel()]
    while len(parts) > 1:
        parts = [_delayed_sum(parts[i : i + 2]) for i in range(0, len(parts), 2)]
    gram: Array = parts[0].compute()
    return gram


def _extremes(F: Any, directions: Array) -> Array:
    """Return the smallest and the largest entry of every column of the result."""
    held = dask.delayed(directions)
    parts = dask.compute(*(_delayed_extremes(F_k, held) for F_k in F.to_delayed().ravel()))
    lowest, highest = np.swapaxes(parts, 0, 1)
    return np.array([lowest.min(axis=0), highest.max(axis=0)])


def _product(F: Array) -> Array:
    F = F.astype(np.float64)
    return F.T @ F


def _sum(parts: list[Array]) -> Array:
    return np.sum(parts, axis=0)


def _extremes_of_chunk(F: Array, directions: Array) -> Array:
    X = F.astype(np.float64) @ directions
    return np.array([X.min(axis=0, initial=np.inf), X.max(axis=0, initial=-np.inf)])


def _projected(F: Array, directions: Array) -> Array:
    dtype = np.float32 if F.dtype == np.float32 else np.float64
    return (F.astype(np.float64) @ directions).astype(dtype)


_delayed = partial(dask.delayed, pure=True)
_delayed_product, _delayed_sum = _delayed(_product), _delayed(_sum)
_delayed_extremes = _delayed(_extremes_of_chunk)
