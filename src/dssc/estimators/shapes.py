"""Checks of what X is: images or similarities instead of a row of features per sample."""

from typing import Any

import numpy as np
from scipy import sparse

from dssc._typing import Matrix
from dssc._warnings import warn_user

# Numbers of axes of arrays of gray or coloured images.
IMAGE_AXES = (3, 4)
# Fewest points of a matrix that is recognised as an affinity.
FEWEST = 3
# Relative differences up to this are rounding, in single precision too.
ROUNDING = 1e-6


def refuse_images(X: Any) -> None:
    """Raise an error for an array of images that says how they become rows of features."""
    if getattr(X, "ndim", None) in IMAGE_AXES:
        raise ValueError(
            f"X has shape {tuple(X.shape)}, like an array of images; one row per sample is "
            "expected. Use dssc.scattered_features(X) for features of images, or "
            "X.reshape(len(X), -1) for their pixels"
        )


def warn_if_affinity(X: Matrix) -> None:
    """Warn if features are obviously similarities."""
    if looks_like_affinity(X):
        warn_user(
            "X is square and nonnegative with equal diagonal entries, and symmetric or with as "
            "many entries in every row, like a matrix of similarities or a graph of nearest "
            "neighbours. Its rows are taken as features. Use "
            "dssc.GraphClustering(affinity='precomputed') for similarities",
            UserWarning,
        )


def looks_like_affinity(X: Matrix) -> bool:
    """Return whether X is obviously an affinity.

    It is square and nonnegative up to rounding, its diagonal is all zeros or all ones, and it is
    not diagonal. And it is symmetric, or sparse with as many entries in every row, as a graph that
    connects points with their nearest neighbours.
    """
    n, d = X.shape
    if n != d or n < FEWEST:
        return False
    diagonal = X.diagonal()
    is_constant = any(np.all(np.abs(diagonal - value) <= ROUNDING) for value in (0.0, 1.0))
    if not is_constant or X.min() < -ROUNDING:
        return False
    count_nonzero = X.count_nonzero() if sparse.issparse(X) else np.count_nonzero(X)
    if count_nonzero == np.count_nonzero(diagonal):
        return False
    if sparse.issparse(X) and np.all(np.diff(sparse.csr_array(X).indptr) == X.nnz / n):
        return True
    return bool(abs(X - X.T).max() <= ROUNDING * X.max())
