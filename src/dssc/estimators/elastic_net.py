"""SSC and EnSC: sparse self-expression by the lasso and the elastic net."""

import warnings

from sklearn.exceptions import ConvergenceWarning

from dssc._validation import check_positive
from dssc.estimators.base import SubspaceClustering
from dssc.expression import elastic_net_representation


def check_usable(result, complaint: str) -> None:
    """Warn of a self-expression that is not optimal, refuse one that is zero."""
    if not result.converged:
        warnings.warn(result.status, ConvergenceWarning, stacklevel=5)
    if result.representation.nnz == 0:
        raise ValueError(complaint)


class _SparseRegression(SubspaceClustering):
    """What SSC and EnSC share: the solver and what becomes of its result."""

    def _solve(self, X, eta1, eta3):
        result = elastic_net_representation(X, eta1, eta3, tol=self.tol, max_iter=self.max_iter)
        check_usable(result, f"gamma={self.gamma!r} is so small that C is zero; raise gamma")
        self.expression_ = result
        self.n_iter_ = int(result.n_iter.max())
        return result.representation

    def _check_parameters(self, n_samples):
        super()._check_parameters(n_samples)
        check_positive("gamma", self.gamma)


class SSC(_SparseRegression):
    r"""Sparse subspace clustering (SSC), the variant for noisy data.

    Rows of X are scaled to unit norm and expressed by each other,

    .. math:: C = \arg\min_C \|C\|_1 + \tfrac{\gamma}{2} \|X - C X\|_F^2
              \quad \text{subject to } \mathrm{diag}(C) = 0 ,

    which is (minC) with :math:`\eta_1 = 0, \; \eta_3 = 1 / \gamma`.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    gamma : float, default=50.0
        Weight of the fit, the paper's :math:`\gamma`, as it stands in the problem above: a row of C
        is zero unless ``gamma > 1 / max_j |x_i . x_j|``, so that one is too small for any data
        without duplicates. See Notes of :class:`EnSC`.
    affinity, eta2, n_neighbors, n_components, assign_labels, n_init, tol, max_iter, random_state
        As in :class:`dssc.estimators.base.SubspaceClustering`, as are the attributes.

    Attributes
    ----------
    expression_ : dssc.result.RepresentationResult
        The self-expression with the violation of its optimality conditions, row by row.

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

    def __init__(
        self,
        n_clusters=8,
        *,
        gamma=50.0,
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
        return self._solve(X, 0.0, 1 / float(self.gamma))


class EnSC(_SparseRegression):
    r"""Elastic net subspace clustering (EnSC).

    Rows of X are scaled to unit norm and expressed by each other,

    .. math:: C = \arg\min_C \lambda \|C\|_1 + \tfrac{1 - \lambda}{2} \|C\|_F^2
              + \tfrac{\gamma}{2} \|X - C X\|_F^2 \quad \text{subject to } \mathrm{diag}(C) = 0 ,

    which is (minC) with :math:`\eta_1 = (1 - \lambda) / \gamma, \; \eta_3 = \lambda / \gamma`.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    gamma : float, default=50.0
        Weight of the fit, the paper's :math:`\gamma`, as it stands in the problem above: a row of C
        is zero unless ``gamma > l1_ratio / max_j |x_i . x_j|``.
    l1_ratio : float, default=0.9
        The mixing :math:`\lambda` of the paper's grid, in (0, 1].
    affinity, eta2, n_neighbors, n_components, assign_labels, n_init, tol, max_iter, random_state
        As in :class:`dssc.estimators.base.SubspaceClustering`, as are the attributes.

    Attributes
    ----------
    expression_ : dssc.result.RepresentationResult
        The self-expression with the violation of its optimality conditions, row by row.

    Notes
    -----
    Other implementations multiply gamma by the smallest value that gives a row of C that is not
    zero. The paper does not say; its numbers agree best with the absolute gamma used here. On
    scattered UMIST and COIL-40 its EnSC has 4.5 and 4.0 nonzeros a point, which gamma = 1 gives
    here (4.7 and 3.6, with l1_ratio = .9), where a relative gamma of 1 makes C zero and the next
    one of its grid, 5, gives at least 8 nonzeros on UMIST.

    References
    ----------
    You, Li, Robinson and Vidal, "Oracle Based Active Set Algorithm for Scalable Elastic Net
    Subspace Clustering", CVPR 2016.

    Examples
    --------
    >>> from dssc import EnSC, clustering_accuracy, make_union_of_subspaces
    >>> X, y = make_union_of_subspaces(n_subspaces=3, random_state=0)
    >>> clustering_accuracy(y, EnSC(n_clusters=3, random_state=0).fit_predict(X))
    1.0
    """

    def __init__(
        self,
        n_clusters=8,
        *,
        gamma=50.0,
        l1_ratio=0.9,
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
        self.l1_ratio = l1_ratio

    def _express(self, X, rng):
        gamma, l1_ratio = float(self.gamma), float(self.l1_ratio)
        return self._solve(X, (1 - l1_ratio) / gamma, l1_ratio / gamma)

    def _check_parameters(self, n_samples):
        super()._check_parameters(n_samples)
        if check_positive("l1_ratio", self.l1_ratio) > 1:
            raise ValueError(f"l1_ratio={self.l1_ratio!r} must be at most 1")
