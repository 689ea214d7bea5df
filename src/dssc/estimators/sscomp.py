"""SSC-OMP: sparse self-expression by orthogonal matching pursuit."""

import numpy as np

from dssc._typing import Matrix
from dssc.estimators.base import parameters
from dssc.estimators.baseline import BaselineClustering
from dssc.expression import omp_representation


@parameters
class SSCOMP(BaselineClustering):
    r"""Sparse subspace clustering by orthogonal matching pursuit (SSC-OMP).

    Rows of X are scaled to unit norm and expressed greedily by at most k others each,

    .. math:: \min_C \; \|X - C X\|_F^2 \quad \text{subject to } \mathrm{diag}(C) = 0, \;
              \|C_i\|_0 \le k .

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    n_nonzero_coefs : int, default=5
        Most nonzeros per row of C, the paper's :math:`k_{\max}`. The pursuit of a row ends earlier
        only where its residual vanishes.
    affinity, eta2, n_neighbors, n_components, assign_labels, n_init
        See :class:`dssc.estimators.baseline.BaselineClustering`.
    merge_copies, tol, max_iter, random_state, invalid_rows
        See :class:`dssc.estimators.baseline.BaselineClustering`, also for the attributes.

    References
    ----------
    You, Robinson and Vidal, "Scalable Sparse Subspace Clustering by Orthogonal Matching Pursuit",
    CVPR 2016.

    Examples
    --------
    >>> from dssc import SSCOMP, clustering_accuracy, make_union_of_subspaces
    >>> X, y = make_union_of_subspaces(n_subspaces=3, random_state=0)
    >>> clustering_accuracy(y, SSCOMP(n_clusters=3, random_state=0).fit_predict(X))
    1.0
    """

    n_nonzero_coefs: int = 5

    counts = (*BaselineClustering.counts, "n_nonzero_coefs")

    def _express(self, X: Matrix, rng: np.random.RandomState) -> Matrix:
        result = omp_representation(X, self.n_nonzero_coefs)
        self.n_iter_ = int(result.n_iter.max())
        return result.representation
