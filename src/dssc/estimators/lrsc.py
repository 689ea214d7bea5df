"""LRSC: dense self-expression of low rank, in closed form."""

import numpy as np

from dssc._typing import Matrix
from dssc._validation import check_positive
from dssc.estimators.base import parameters
from dssc.estimators.baseline import BaselineClustering, check_dense_memory
from dssc.expression import low_rank_representation


@parameters
class LRSC(BaselineClustering):
    r"""Low-rank subspace clustering (LRSC), for noisy data and with the relaxed constraint.

    Rows of X are scaled to unit norm; clean rows A near them are expressed by each other,

    .. math:: \min_{A, C} \; \|C\|_* + \tfrac{\tau}{2} \|A - C A\|_F^2
              + \tfrac{\alpha}{2} \|X - A\|_F^2 \quad \text{subject to } C = C^\top .

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    tau : float, default=100.0
        Weight of the self-expression, :math:`\tau`.
    alpha : float or None, default=None
        Weight of the fit, :math:`\alpha`; None means ``tau / 2``, as in the paper.
    affinity, eta2, n_neighbors, n_components, assign_labels, n_init
        See :class:`dssc.estimators.baseline.BaselineClustering`.
    merge_copies, tol, max_iter, random_state, invalid_rows
        See :class:`dssc.estimators.baseline.BaselineClustering`, also for the attributes.

    References
    ----------
    Vidal and Favaro, "Low rank subspace clustering (LRSC)", Pattern Recognition Letters 43, 2014.

    Examples
    --------
    >>> from dssc import LRSC, clustering_accuracy, make_union_of_subspaces
    >>> X, y = make_union_of_subspaces(n_subspaces=3, random_state=0)
    >>> clustering_accuracy(y, LRSC(n_clusters=3, random_state=0).fit_predict(X))
    1.0
    """

    tau: float = 100.0
    alpha: float | None = None

    positive = (*BaselineClustering.positive, "tau")

    def _express(self, X: Matrix, rng: np.random.RandomState) -> Matrix:
        check_dense_memory(X.shape[0])
        self.n_iter_ = 1
        tau = float(self.tau)
        alpha = tau / 2 if self.alpha is None else float(self.alpha)
        C = low_rank_representation(X, tau, alpha)
        if not C.any():
            raise ValueError(f"tau={self.tau!r} is so small that C is zero; raise tau")
        return C

    def _check_parameters(self, n_samples: int) -> None:
        super()._check_parameters(n_samples)
        if self.alpha is not None:
            check_positive("alpha", self.alpha)
