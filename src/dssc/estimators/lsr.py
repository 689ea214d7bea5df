"""LSR: dense self-expression by least squares, in closed form."""

import numpy as np

from dssc._typing import Matrix
from dssc.estimators.base import parameters
from dssc.estimators.baseline import BaselineClustering, check_dense_memory
from dssc.expression import least_squares_representation


@parameters
class LSR(BaselineClustering):
    r"""Least squares regression (LSR), the variant with a zero diagonal.

    Rows of X are scaled to unit norm and expressed by each other,

    .. math:: C = \arg\min_C \|X - C X\|_F^2 + \gamma \|C\|_F^2
              \quad \text{subject to } \mathrm{diag}(C) = 0 ,

    which is the self-expression of :class:`dssc.ADSSC` with :math:`\eta_1 = \gamma, \; \eta_3 = 0`.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    gamma : float, default=1.0
        Weight of the penalty: larger values spread the coefficients over more points. It is
        :math:`\lambda` in the paper's grid and :math:`\gamma` in its appendix. In :class:`SSC` and
        :class:`EnSC` gamma is the weight of the fit, so it acts in the opposite direction.
    affinity, eta2, n_neighbors, n_components, assign_labels, n_init
        See :class:`dssc.estimators.baseline.BaselineClustering`.
    merge_copies, tol, max_iter, random_state, invalid_rows
        See :class:`dssc.estimators.baseline.BaselineClustering`, also for the attributes.

    References
    ----------
    Lu, Min, Zhao, Zhu, Huang and Yan, "Robust and Efficient Subspace Segmentation via Least Squares
    Regression", ECCV 2012.

    Examples
    --------
    >>> from dssc import LSR, clustering_accuracy, make_union_of_subspaces
    >>> X, y = make_union_of_subspaces(n_subspaces=3, random_state=0)
    >>> clustering_accuracy(y, LSR(n_clusters=3, random_state=0).fit_predict(X))
    1.0
    """

    gamma: float = 1.0

    positive = (*BaselineClustering.positive, "gamma")

    def _express(self, X: Matrix, rng: np.random.RandomState) -> Matrix:
        check_dense_memory(X.shape[0])
        self.n_iter_ = 1
        return least_squares_representation(X, float(self.gamma))
