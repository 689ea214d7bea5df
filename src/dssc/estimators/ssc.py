"""SSC: sparse self-expression by the lasso."""

import numpy as np

from dssc._typing import Matrix
from dssc.estimators.base import parameters
from dssc.estimators.sparse_regression import SparseRegressionClustering


@parameters
class SSC(SparseRegressionClustering):
    r"""Sparse subspace clustering (SSC), the variant for noisy data.

    Rows of X are scaled to unit norm and expressed by each other,

    .. math:: C = \arg\min_C \|C\|_1 + \tfrac{\gamma}{2} \|X - C X\|_F^2
              \quad \text{subject to } \mathrm{diag}(C) = 0 ,

    which is the self-expression of :class:`dssc.ADSSC` with
    :math:`\eta_1 = 0, \; \eta_3 = 1 / \gamma`.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    gamma : float, default=50.0
        Weight of the fit, the paper's :math:`\gamma`, as in the problem above: larger values fit
        more closely, with more coefficients. A row of C is zero unless
        ``gamma > 1 / max_j |x_i . x_j|``, so gamma = 1 is too small for any data without
        duplicates. In :class:`LSR` gamma acts in the opposite direction. See Notes of
        :class:`EnSC`.
    affinity, eta2, n_neighbors, n_components, assign_labels, n_init
        See :class:`dssc.estimators.baseline.BaselineClustering`.
    merge_copies, tol, max_iter, random_state, invalid_rows
        See :class:`dssc.estimators.baseline.BaselineClustering`, also for the attributes.

    Attributes
    ----------
    expression_ : dssc.result.RepresentationResult
        The self-expression with the violation of the optimality conditions of every row.

    References
    ----------
    Elhamifar and Vidal, "Sparse Subspace Clustering: Algorithm, Theory, and Applications", IEEE
    Transactions on Pattern Analysis and Machine Intelligence 35, 2013.

    Examples
    --------
    >>> from dssc import SSC, clustering_accuracy, make_union_of_subspaces
    >>> X, y = make_union_of_subspaces(n_subspaces=3, random_state=0)
    >>> clustering_accuracy(y, SSC(n_clusters=3, random_state=0).fit_predict(X))
    1.0
    """

    def _express(self, X: Matrix, rng: np.random.RandomState) -> Matrix:
        return self._solve(X, eta1=0.0, eta3=1 / float(self.gamma))
