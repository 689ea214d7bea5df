"""Thresholding: the nearest samples in angle (TSC)."""

import numpy as np
from scipy import sparse

from dssc._validation import check_count
from dssc.expression.dictionary import Dictionary
from dssc.kernels._numba.atoms import exact_products

SPARE = 8  # further samples a search returns, among which float64 settles the order


def thresholded_similarity(X, n_neighbors: int) -> sparse.csr_array:
    r"""Relate every row of X, of unit norm, to the rows at the smallest angles.

    For the q rows with the largest :math:`|\langle x_i, x_j \rangle|`, j other than i,

    .. math:: C_{ij} = \exp(-2 \arccos |\langle x_i, x_j \rangle|) ,

    and zero for all others.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Samples of unit norm, of dtype float32 or float64.
    n_neighbors : int
        Number of neighbours q; ``min(n_neighbors, n_samples - 1)`` is used.

    Returns
    -------
    C : scipy.sparse.csr_array of shape (n_samples, n_samples)
        Similarities in the dtype of X, in (0, 1].
    """
    check_count("n_neighbors", n_neighbors)
    dictionary = Dictionary(X)
    n = len(dictionary)
    n_kept = min(n_neighbors, n - 1)
    values = np.empty((n, n_kept))
    places = np.empty((n, n_kept), dtype=np.int32)
    for rows in dictionary.blocks():
        own = np.arange(n)[rows]
        values[rows], places[rows] = _nearest(dictionary, own, n_kept)
    indptr = np.arange(n + 1) * n_kept
    cosines = np.minimum(values * dictionary.scale**2, 1.0)
    similarity = np.exp(-2.0 * np.arccos(cosines)).astype(dictionary.dtype)
    C = sparse.csr_array((similarity.ravel(), places.ravel(), indptr), shape=(n, n))
    C.sort_indices()
    return C


def _nearest(dictionary, own, n_kept, *, precise=False):
    """Return the largest magnitudes of products, and where; of equals the first."""
    found, bounds = dictionary.search(dictionary.X[own], own, n_kept + SPARE, precise=precise)
    exact = np.empty(found.shape)
    exact_products(dictionary.X, dictionary.X[own], found, exact)
    exact = np.where(found < 0, -1.0, np.abs(exact))
    order = np.lexsort((found, -exact))[:, :n_kept]
    values = np.take_along_axis(exact, order, axis=1)
    places = np.take_along_axis(found, order, axis=1)
    unsure = np.flatnonzero(values[:, -1] < bounds)
    if len(unsure) and not precise:
        values[unsure], places[unsure] = _nearest(dictionary, own[unsure], n_kept, precise=True)
    return values, places
