"""Uncentred principal components of many features, in two passes over blocks."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg
from sklearn.utils import gen_batches

from dssc._devices import is_dask
from dssc._typing import Array
from dssc._validation import check_count, check_real

# Size of the float64 copy of one block.
BLOCK_BYTES = 1 << 27


def pca_features(F: ArrayLike, n_components: int = 500) -> Array:
    """Project the rows of F on their leading singular directions, without centring.

    The result X has ``X X'`` as close to ``F F'`` as its rank allows. Points near a union of linear
    subspaces stay near one; subtracting the mean would turn the subspaces into affine ones.

    Parameters
    ----------
    F : array-like of shape (n_samples, n_features)
        Features; may be a memory map. They are read twice, in blocks, and never copied as a whole.
        A Dask array is read twice by its workers at once, and again when the result is computed.
    n_components : int, default=500
        Number of directions.

    Returns
    -------
    X : ndarray of shape (n_samples, n_components)
        A Dask array if F is one. In the dtype of F (float64 for integers). Directions are in
        decreasing order of their singular values; their signs make the largest entry of each column
        positive.
    """
    if is_dask(F):
        from dssc.features.pca_of_chunks import pca_of_chunks

        return pca_of_chunks(F, n_components)
    check_real("F", F)
    F = F if isinstance(F, np.ndarray) else np.asarray(F)
    n, d = check_components(F.shape, n_components)
    dtype = F.dtype if F.dtype in (np.float32, np.float64) else np.dtype(np.float64)
    X = _by_features(F, n_components) if d <= n else _by_samples(F, n_components)
    largest = X[np.argmax(np.abs(X), axis=0), np.arange(n_components)]
    X *= np.where(largest < 0, -1.0, 1.0)
    return X.astype(dtype, copy=False)


def check_components(shape: tuple[int, ...], n_components: int) -> tuple[int, int]:
    """Return the shape of a matrix; raise an error if it has fewer components."""
    if len(shape) != 2:
        raise ValueError(f"F must be a matrix; its shape is {shape}")
    check_count("n_components", n_components)
    if n_components > min(shape):
        raise ValueError(
            f"n_components={n_components} must be at most min(n_samples, n_features) = {min(shape)}"
        )
    return shape


def _by_features(F: Array, n_components: int) -> Array:
    n, d = F.shape
    gram = np.zeros((d, d))
    for rows in _blocks(n, d):
        block = F[rows].astype(np.float64)
        gram += block.T @ block
    _, directions = leading_eigenvectors(gram, n_components)
    X = np.empty((n, n_components), dtype=np.float32 if F.dtype == np.float32 else np.float64)
    for rows in _blocks(n, d):
        X[rows] = F[rows].astype(np.float64) @ directions
    return X


def _by_samples(F: Array, n_components: int) -> Array:
    n, d = F.shape
    gram = np.zeros((n, n))
    for columns in _blocks(d, n):
        block = F[:, columns].astype(np.float64)
        gram += block @ block.T
    squares, vectors = leading_eigenvectors(gram, n_components)
    return vectors * np.sqrt(np.maximum(squares, 0.0))


def _blocks(length: int, width: int) -> list[slice]:
    size = max(1, BLOCK_BYTES // (8 * width))
    return list(gen_batches(length, size))


def leading_eigenvectors(gram: Array, n_components: int) -> tuple[Array, Array]:
    """Return the largest eigenvalues, in decreasing order, and their eigenvectors."""
    if not np.all(np.isfinite(gram)):
        raise ValueError("F holds NaN, infinite or too large values; replace or rescale them")
    last = len(gram) - 1
    values, vectors = linalg.eigh(
        gram, subset_by_index=[last - n_components + 1, last], overwrite_a=True, check_finite=False
    )
    return values[::-1], vectors[:, ::-1]
