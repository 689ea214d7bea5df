"""Thresholding: similarities to the samples at the smallest angles (TSC)."""

import numpy as np

from dssc._sparse import csr_of_parts
from dssc._typing import Array, Matrix
from dssc._validation import check_count
from dssc.expression.dictionary import Dictionary
from dssc.kernels.atoms import exact_products
from dssc.result import RepresentationResult

# Additional samples that a search in float32 returns. Their order is then decided in float64.
EXTRA_CANDIDATES = 8


def thresholded_similarity(X: Matrix, n_neighbors: int) -> RepresentationResult:
    r"""Relate every row of X, of unit norm, to the rows at the smallest angles.

    For the q rows with the largest :math:`|\langle x_i, x_j \rangle|`, j other than i,

    .. math:: C_{ij} = \exp(-2 \arccos |\langle x_i, x_j \rangle|) ,

    and :math:`C_{ij} = 0` for all others.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Samples of unit norm, of dtype float32 or float64.
    n_neighbors : int
        Number of neighbours q; ``min(n_neighbors, n_samples - 1)`` is used.

    Returns
    -------
    result : dssc.result.RepresentationResult
        C in CSR form and in the dtype of X, with entries in (0, 1]. The neighbours are those of
        float64, found in one iteration. C solves no optimisation problem and does not reconstruct
        the samples, so `violations` and `residuals` are None.
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
    C = csr_of_parts(similarity.ravel(), places.ravel(), indptr, (n, n))
    C.sort_indices()
    return RepresentationResult(
        representation=C,
        violations=None,
        residuals=None,
        n_iter=np.ones(n, dtype=np.int64),
        converged=True,
        status=f"found the {n_kept} nearest samples of every sample",
    )


def _nearest(
    dictionary: Dictionary, own: Array, n_kept: int, *, precise: bool = False
) -> tuple[Array, Array]:
    """Return the largest magnitudes of products, and their places; the first of equal ones."""
    candidates, bounds = dictionary.search(
        dictionary.X[own], own, n_kept + EXTRA_CANDIDATES, precise=precise
    )
    exact = np.empty(candidates.shape)
    exact_products(dictionary.X, dictionary.X[own], candidates, exact)
    exact = np.where(candidates < 0, -1.0, np.abs(exact))
    order = np.lexsort((candidates, -exact))[:, :n_kept]
    values = np.take_along_axis(exact, order, axis=1)
    places = np.take_along_axis(candidates, order, axis=1)
    unsure = np.flatnonzero(values[:, -1] < bounds)
    if len(unsure) and not precise:
        values[unsure], places[unsure] = _nearest(dictionary, own[unsure], n_kept, precise=True)
    return values, places
