"""LSR and LRSC: dense self-expression with a closed form."""

from dssc._validation import check_positive
from dssc.estimators.base import SubspaceClustering
from dssc.expression import least_squares_representation, low_rank_representation


class LSR(SubspaceClustering):
    r"""Least squares regression (LSR), the variant with a zero diagonal.

    Rows of X are scaled to unit norm and expressed by each other,

    .. math:: C = \arg\min_C \|X - C X\|_F^2 + \gamma \|C\|_F^2
              \quad \text{subject to } \mathrm{diag}(C) = 0 ,

    which is (minC) with :math:`\eta_1 = \gamma, \; \eta_3 = 0`.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    gamma : float, default=1.0
        Weight of the penalty, :math:`\lambda` in the paper's grid and :math:`\gamma` in its
        appendix.
    affinity, eta2, n_neighbors, n_components, assign_labels, n_init, tol, max_iter, random_state
        As in :class:`dssc.estimators.base.SubspaceClustering`, as are the attributes.

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

    def __init__(
        self,
        n_clusters=8,
        *,
        gamma=1.0,
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
        self.gamma = gamma

    def _express(self, X, rng):
        self.n_iter_ = 1
        return least_squares_representation(X, float(self.gamma))

    def _check_parameters(self, n_samples):
        super()._check_parameters(n_samples)
        check_positive("gamma", self.gamma)


class LRSC(SubspaceClustering):
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
        Weight of the fit, :math:`\alpha`; ``tau / 2`` as in the paper when not given.
    affinity, eta2, n_neighbors, n_components, assign_labels, n_init, tol, max_iter, random_state
        As in :class:`dssc.estimators.base.SubspaceClustering`, as are the attributes.

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

    def __init__(
        self,
        n_clusters=8,
        *,
        tau=100.0,
        alpha=None,
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
        self.tau = tau
        self.alpha = alpha

    def _express(self, X, rng):
        self.n_iter_ = 1
        tau = float(self.tau)
        alpha = tau / 2 if self.alpha is None else float(self.alpha)
        C = low_rank_representation(X, tau, alpha)
        if not C.any():
            raise ValueError(f"tau={self.tau!r} is so small that C is zero; raise tau")
        return C

    def _check_parameters(self, n_samples):
        super()._check_parameters(n_samples)
        check_positive("tau", self.tau)
        if self.alpha is not None:
            check_positive("alpha", self.alpha)
