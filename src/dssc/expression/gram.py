"""The Gram matrix of features, without a scaled copy of all samples."""

from collections.abc import Callable

import numpy as np
from sklearn.utils import gen_batches

from dssc import kernels
from dssc._progress import Advance
from dssc._threads import block_threads
from dssc._typing import Array, Matrix

# Samples that are held in float64 at once.
BLOCK = 2048
# Blocks whose products are summed before they are added to those of others.
GROUP = 4


def regularised_gram(
    X: Matrix,
    eta1: float,
    unit_rows: Callable[[Matrix], Array],
    advance: Advance | None = None,
    weights: Array | None = None,
) -> Array:
    """Return ``X'X + eta1 I``, or ``X'WX + eta1 I``, for samples scaled to unit norm.

    Blocks of samples are multiplied on all threads and summed in order, group by group. So the
    result does not depend on the number of threads, nor on the machine that sums a group.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Samples.
    eta1 : float
        Number added to the diagonal.
    unit_rows : callable
        Returns rows of X in float64, scaled to unit norm.
    advance : callable, optional
        Called with the number of samples done since the last call.
    weights : ndarray of shape (n_samples,), optional
        The diagonal of W.
    """
    n, d = X.shape
    gram, group = eta1 * np.eye(d), np.zeros((d, d))

    def products(batch: slice) -> tuple[Array, int]:
        own = None if weights is None else weights[batch]
        return block_gram(X[batch], unit_rows, own), X[batch].shape[0]

    with block_threads(kernels.n_threads()) as in_threads:
        for number, (part, n_done) in enumerate(in_threads(products, gen_batches(n, BLOCK)), 1):
            group += part
            if number % GROUP == 0:
                gram += group
                group[:] = 0.0
            if advance is not None:
                advance(n_done)
    return gram + group


def block_gram(X: Matrix, unit_rows: Callable[[Matrix], Array], weights: Array | None) -> Array:
    """Return ``X'X``, or ``X'WX``, for a block of samples scaled to unit norm."""
    rows = unit_rows(X)
    if weights is not None:
        rows *= np.sqrt(weights[:, None])
    return rows.T @ rows
