"""S3COMP: sparse self-expression by pursuit with dropout and consensus."""

import numpy as np

from dssc._typing import Matrix
from dssc.estimators.base import parameters
from dssc.estimators.baseline import BaselineClustering
from dssc.expression import s3comp_representation


@parameters
class S3COMP(BaselineClustering):
    r"""Stochastic sparse subspace clustering by pursuit with dropout and consensus (S3COMP-C).

    Rows of X are scaled to unit norm. T subproblems leave out a random share of the samples; each
    expresses all rows greedily by at most k of the others that are left, pulled towards the mean B
    of all solutions, which is the self-expression:

    .. math:: \min_{B, C^{(t)}} \; \sum_{t=1}^T \|X - C^{(t)} X^{(t)}\|_F^2
              + \lambda \|C^{(t)} - B\|_F^2 \quad \text{subject to } \|C_i^{(t)}\|_0 \le k, \;
              C_{ii}^{(t)} = 0 .

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    n_nonzero_coefs : int, default=5
        Most nonzeros per row in one subproblem, k.
    n_subproblems : int, default=15
        Number of subproblems T.
    dropout : float, default=0.7
        Share of the samples that each subproblem leaves out.
    damping : float, default=0.1
        Weight :math:`\lambda` of the consensus.
    n_rounds : int, default=1
        Rounds of consensus after the first round, which has none. Zero gives S3COMP without
        consensus.
    affinity, eta2, n_neighbors, n_components, assign_labels, n_init
        See :class:`dssc.estimators.baseline.BaselineClustering`.
    merge_copies, tol, max_iter, random_state, invalid_rows
        See :class:`dssc.estimators.baseline.BaselineClustering`, also for the attributes.

    References
    ----------
    Chen, Li and You, "Stochastic Sparse Subspace Clustering", CVPR 2020.

    Examples
    --------
    >>> from dssc import S3COMP, clustering_accuracy, make_union_of_subspaces
    >>> X, y = make_union_of_subspaces(n_subspaces=3, random_state=0)
    >>> clustering_accuracy(y, S3COMP(n_clusters=3, random_state=0).fit_predict(X))
    1.0
    """

    n_nonzero_coefs: int = 5
    n_subproblems: int = 15
    dropout: float = 0.7
    damping: float = 0.1
    n_rounds: int = 1

    counts = (*BaselineClustering.counts, "n_nonzero_coefs", "n_subproblems")

    def _express(self, X: Matrix, rng: np.random.RandomState) -> Matrix:
        result = s3comp_representation(
            X,
            self.n_nonzero_coefs,
            n_subproblems=self.n_subproblems,
            dropout=self.dropout,
            damping=self.damping,
            n_rounds=self.n_rounds,
            random_state=rng,
        )
        self.n_iter_ = 1 + self.n_rounds
        return result.representation
