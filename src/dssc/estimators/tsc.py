"""TSC: similarities of the nearest samples."""

import numpy as np

from dssc._typing import Matrix
from dssc.estimators.base import parameters
from dssc.estimators.baseline import BaselineClustering
from dssc.expression import thresholded_similarity


@parameters
class TSC(BaselineClustering):
    r"""Thresholding-based subspace clustering (TSC).

    Rows of X are scaled to unit norm. For the q other rows with the largest
    :math:`|\langle x_i, x_j \rangle|`

    .. math:: C_{ij} = \exp(-2 \arccos |\langle x_i, x_j \rangle|) ,

    and C is zero elsewhere.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    n_neighbors : int, default=5
        Number of neighbours q per sample, and the mean number of neighbours that a doubly
        stochastic affinity should have; ``min(n_neighbors, n_samples - 1)`` is used.
    affinity, eta2, n_components, assign_labels, n_init
        See :class:`dssc.estimators.baseline.BaselineClustering`.
    merge_copies, tol, max_iter, random_state, invalid_rows
        See :class:`dssc.estimators.baseline.BaselineClustering`, also for the attributes.

    References
    ----------
    Heckel and Bölcskei, "Robust Subspace Clustering via Thresholding", IEEE Transactions on
    Information Theory 61, 2015.

    Examples
    --------
    >>> from dssc import TSC, clustering_accuracy, make_union_of_subspaces
    >>> X, y = make_union_of_subspaces(n_subspaces=3, random_state=0)
    >>> clustering_accuracy(y, TSC(n_clusters=3, random_state=0).fit_predict(X))
    1.0
    """

    n_neighbors: int = 5

    def _express(self, X: Matrix, rng: np.random.RandomState) -> Matrix:
        self.n_iter_ = 1
        return thresholded_similarity(X, self.n_neighbors).representation
