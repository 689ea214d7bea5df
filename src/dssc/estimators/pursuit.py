"""SSC-OMP and S3COMP: sparse self-expression by orthogonal matching pursuit."""

from dssc._validation import check_count, check_positive
from dssc.estimators.base import SubspaceClustering
from dssc.expression import omp_representation, s3comp_representation


class SSCOMP(SubspaceClustering):
    r"""Sparse subspace clustering by orthogonal matching pursuit (SSC-OMP).

    Rows of X are scaled to unit norm and expressed greedily by at most k others each,

    .. math:: \min_C \; \|X - C X\|_F^2 \quad \text{subject to } \mathrm{diag}(C) = 0, \;
              \|C_i\|_0 \le k .

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    n_nonzero_coefs : int, default=5
        Most nonzeros of a row of C, the paper's :math:`k_{\max}`.
    affinity, eta2, n_neighbors, n_components, assign_labels, n_init, tol, max_iter, random_state
        As in :class:`dssc.estimators.base.SubspaceClustering`, as are the attributes.
        The pursuit of a row ends early only where its residual vanishes.

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

    def __init__(
        self,
        n_clusters=8,
        *,
        n_nonzero_coefs=5,
        affinity="symmetric",
        eta2=None,
        n_neighbors=12,
        n_components=None,
        assign_labels="kmeans",
        n_init=10,
        tol=1e-8,
        max_iter=1000,
        random_state=None,
    ):
        super().__init__(
            n_clusters,
            affinity=affinity,
            eta2=eta2,
            n_neighbors=n_neighbors,
            n_components=n_components,
            assign_labels=assign_labels,
            n_init=n_init,
            tol=tol,
            max_iter=max_iter,
            random_state=random_state,
        )
        self.n_nonzero_coefs = n_nonzero_coefs

    def _express(self, X, rng):
        self.n_iter_ = 1
        return omp_representation(X, self.n_nonzero_coefs)

    def _check_parameters(self, n_samples):
        super()._check_parameters(n_samples)
        check_count("n_nonzero_coefs", self.n_nonzero_coefs)


class S3COMP(SubspaceClustering):
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
        Most nonzeros of a row in one subproblem, k.
    n_subproblems : int, default=15
        Number of subproblems T.
    dropout : float, default=0.7
        Share of the samples left out of a subproblem.
    damping : float, default=0.1
        Weight :math:`\lambda` of the consensus.
    n_rounds : int, default=1
        Rounds of consensus after the first, free one. With none it is S3COMP without consensus.
    affinity, eta2, n_neighbors, n_components, assign_labels, n_init, tol, max_iter, random_state
        As in :class:`dssc.estimators.base.SubspaceClustering`, as are the attributes.

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

    def __init__(
        self,
        n_clusters=8,
        *,
        n_nonzero_coefs=5,
        n_subproblems=15,
        dropout=0.7,
        damping=0.1,
        n_rounds=1,
        affinity="symmetric",
        eta2=None,
        n_neighbors=12,
        n_components=None,
        assign_labels="kmeans",
        n_init=10,
        tol=1e-8,
        max_iter=1000,
        random_state=None,
    ):
        super().__init__(
            n_clusters,
            affinity=affinity,
            eta2=eta2,
            n_neighbors=n_neighbors,
            n_components=n_components,
            assign_labels=assign_labels,
            n_init=n_init,
            tol=tol,
            max_iter=max_iter,
            random_state=random_state,
        )
        self.n_nonzero_coefs = n_nonzero_coefs
        self.n_subproblems = n_subproblems
        self.dropout = dropout
        self.damping = damping
        self.n_rounds = n_rounds

    def _express(self, X, rng):
        self.n_iter_ = 1 + self.n_rounds
        return s3comp_representation(
            X,
            self.n_nonzero_coefs,
            n_subproblems=self.n_subproblems,
            dropout=self.dropout,
            damping=self.damping,
            n_rounds=self.n_rounds,
            random_state=rng,
        )

    def _check_parameters(self, n_samples):
        super()._check_parameters(n_samples)
        check_count("n_nonzero_coefs", self.n_nonzero_coefs)
        check_count("n_subproblems", self.n_subproblems)
        check_positive("damping", self.damping)
        if self.n_rounds != 0:
            check_count("n_rounds", self.n_rounds)
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout={self.dropout!r} must be at least 0 and less than 1")
