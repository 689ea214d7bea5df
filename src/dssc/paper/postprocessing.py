"""DSC-Net's post-processing of a self-expression, for any C.

The steps are those of the code that Ji et al. published with DSC-Net. They go back to low-rank
representation and efficient dense subspace clustering.
"""

import numpy as np
from scipy import linalg

from dssc._typing import Array


def keep_largest(C: Array, share: float) -> Array:
    """Keep the largest entries of each row that together exceed a share of its sum.

    Parameters
    ----------
    C : ndarray of shape (n_samples, n_samples)
        Coefficients.
    share : float
        Share of the sum of magnitudes, less than one. The entry that exceeds it is kept too.

    Returns
    -------
    kept : ndarray of shape (n_samples, n_samples)
        The entries that are kept, and zeros.

    Examples
    --------
    >>> import numpy as np
    >>> keep_largest(np.array([[0.1, -0.6, 0.3], [1.0, 1.0, 1.0]]), 0.5)
    array([[ 0. , -0.6,  0. ],
           [ 1. ,  1. ,  0. ]])
    """
    magnitudes = np.abs(C)
    order = np.argsort(-magnitudes, axis=1, kind="stable")
    sums = np.cumsum(np.take_along_axis(magnitudes, order, axis=1), axis=1)
    before = np.hstack([np.zeros((len(C), 1)), sums[:, :-1]])
    is_kept = np.zeros(C.shape, dtype=bool)
    np.put_along_axis(is_kept, order, before <= share * sums[:, -1:], axis=1)
    return np.where(is_kept, C, 0.0)


def low_rank_affinity(C: Array, n_clusters: int, dimension: int, power: float) -> Array:
    """Return the cosines between points in the leading singular vectors of C, to a power.

    With ``U S U'`` for the leading ``dimension * n_clusters + 1`` singular values of the symmetric
    part of C, the rows of ``U sqrt(S)`` are scaled to unit norm. Their inner products, where
    positive, are raised to the power. The diagonal is zero, as the published code's spectral step
    ignores it.

    Parameters
    ----------
    C : ndarray of shape (n_samples, n_samples)
        Coefficients.
    n_clusters : int
        Number of clusters.
    dimension : int
        Dimension of a subspace.
    power : float
        The power; larger values suppress small similarities.
    """
    rank = min(dimension * n_clusters + 1, len(C) - 1)
    # Singular values of a symmetric matrix are magnitudes of eigenvalues. Unlike singular vectors,
    # eigenvectors of equal and opposite eigenvalues do not mix.
    values, vectors = linalg.eigh((C + C.T) / 2, overwrite_a=True, check_finite=False)
    leading = np.argsort(-np.abs(values), kind="stable")[:rank]
    rows = vectors[:, leading] * np.sqrt(np.abs(values[leading]))
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    rows = np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0)
    A = np.maximum(rows @ rows.T, 0) ** power
    np.fill_diagonal(A, 0)
    return (A + A.T) / 2
