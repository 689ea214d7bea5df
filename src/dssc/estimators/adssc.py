"""A-DSSC: self-expression, then its doubly stochastic projection, then the spectral step."""

import warnings

import joblib
import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from dssc._progress import Progress
from dssc._validation import check_count, check_positive
from dssc.estimators.expressed import express
from dssc.features import check_no_zero_rows
from dssc.spectral import assign_labels, spectral_embedding
from dssc.stochastic import project_to_neighbors


class ADSSC(ClusterMixin, BaseEstimator):
    r"""Approximate doubly stochastic subspace clustering (A-DSSC).

    Rows of X are scaled to unit norm and expressed by each other, (minC) with :math:`\eta_3 = 0`,

    .. math:: C = \arg\min_C \tfrac12 \|X - C X\|_F^2 + \tfrac{\eta_1}{2} \|C\|_F^2
              \quad \text{subject to } \mathrm{diag}(C) = 0 ;

    the coefficients' magnitudes are projected onto the doubly stochastic matrices, (jminA),

    .. math:: A = \arg\min_A -\langle |C|, A \rangle + \tfrac{\eta_2}{2} \|A\|_F^2
              \quad \text{subject to } A \ge 0, \; A 1 = A^\top 1 = 1 ;

    and A, which needs no further normalisation, is clustered by its leading eigenvectors.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    eta1 : float, default=1.0
        Ridge penalty of the self-expression. Larger values spread a point's coefficients over more
        of the others.
    eta2 : float or None, default=None
        Regularisation of the affinity; larger values give more neighbours a point. The right value
        follows the scale of C, which differs by orders of magnitude between data sets, so by
        default the one is found that gives `n_neighbors`.
    n_neighbors : int, default=12
        Mean number of neighbours of a point in A (entries off the diagonal above 1e-9) that eta2 is
        chosen for; ``min(n_neighbors, n_samples - 1)`` is used. Ignored when `eta2` is given.
    symmetric : bool, default=True
        Whether to project ``(|C| + |C|') / 2``, which is the same as asking for a symmetric A.
        False projects \|C\| as the paper does.
    n_components : int or None, default=None
        Number of eigenvectors, `n_clusters` when not given.
    assign_labels : {"kmeans", "cluster_qr"}, default="kmeans"
        How labels are read off the eigenvectors; see :func:`dssc.assign_labels`.
    n_init : int, default=10
        Random starts of k-means.
    tol : float, default=1e-8
        Tolerance on the row and column sums of A and on its duality gap.
    max_iter : int, default=1000
        Most Newton steps of the projection.
    warm_start : bool, default=False
        Whether to keep what the next `fit` can use. With the same X, `eta1` and `symmetric` it then
        costs a new projection at most, whatever `eta2`, `n_neighbors` or `n_clusters`: the
        similarities found before stay valid, and where another eta2 needs more of them the
        certificate says so and they are read. Keeps X alive; not pickled.
    verbose : int, default=0
        1 shows stages, speed and time left on standard error.
    random_state : int, RandomState instance or None, default=None
        Randomness of k-means and of the eigensolver's start. Pass an int for repeatable labels.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample.
    affinity_matrix_ : scipy.sparse.csr_array of shape (n_samples, n_samples)
        The doubly stochastic A, in float64.
    representation_matrix_ : ndarray or csr_array of shape (n_samples, n_samples)
        The self-expression C, with ``X ≈ C X`` for the scaled rows, in the dtype of X. From 4,000
        samples on, if there are more samples than features, C is never formed, and this holds its
        entries where A is positive.
    embedding_ : ndarray of shape (n_samples, n_components)
        Leading eigenvectors of A.
    eta2_ : float
        The eta2 that was used.
    projection_ : dssc.result.ProjectionResult
        The solver's result, with its certificate.
    n_iter_ : int
        Newton steps of the projection.
    timings_ : dict
        Seconds by stage.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, when X has string names.

    References
    ----------
    Lim, Vidal and Haeffele, "Doubly Stochastic Subspace Clustering", ICCV 2021.

    Examples
    --------
    >>> from dssc import ADSSC, clustering_accuracy, make_union_of_subspaces
    >>> X, y = make_union_of_subspaces(n_subspaces=3, random_state=0)
    >>> labels = ADSSC(n_clusters=3, random_state=0).fit_predict(X)
    >>> clustering_accuracy(y, labels)
    1.0
    """

    def __init__(
        self,
        n_clusters=8,
        *,
        eta1=1.0,
        eta2=None,
        n_neighbors=12,
        symmetric=True,
        n_components=None,
        assign_labels="kmeans",
        n_init=10,
        tol=1e-8,
        max_iter=1000,
        warm_start=False,
        verbose=0,
        random_state=None,
    ):
        self.n_clusters = n_clusters
        self.eta1 = eta1
        self.eta2 = eta2
        self.n_neighbors = n_neighbors
        self.symmetric = symmetric
        self.n_components = n_components
        self.assign_labels = assign_labels
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X, y=None):
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples; at least two, none of them zero.
        y : None
            Ignored.

        Returns
        -------
        self : ADSSC
            The fitted estimator.
        """
        X = validate_data(
            self, X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_min_samples=2
        )
        self._check_parameters(X.shape[0])
        check_no_zero_rows(X)
        rng = check_random_state(self.random_state)
        progress = Progress(self.verbose)

        expressed = self._express(X, progress)
        result = self._project(expressed.problem, progress)
        A = sparse.csr_array(result.plan)
        with progress.stage("eigenvectors"):
            U = spectral_embedding(
                A, self.n_clusters, n_components=self.n_components, random_state=rng
            )
        with progress.stage("labels"):
            self.labels_ = assign_labels(
                U,
                self.n_clusters,
                method=self.assign_labels,
                n_init=self.n_init,
                similarity=expressed.similarities,
                random_state=rng,
            )
            self.representation_matrix_ = expressed.coefficients(A).astype(X.dtype, copy=False)
        self.projection_ = result
        self.affinity_matrix_ = A
        self.embedding_ = U.astype(X.dtype, copy=False)
        self.eta2_ = result.eta2
        self.n_iter_ = result.n_iter
        self.timings_ = progress.seconds
        return self

    def _express(self, X, progress):
        """Return the self-expression: the one of the last fit if it was of the same data."""
        if not self.warm_start:
            self._kept = None
            return express(X, float(self.eta1), self.symmetric, progress)
        with progress.stage("comparison"):
            fingerprint = joblib.hash((X, float(self.eta1), bool(self.symmetric)))
        kept = getattr(self, "_kept", None)
        if kept is None or kept[0] != fingerprint:
            self._kept = kept = None  # frees its memory before more is needed
            kept = fingerprint, express(X, float(self.eta1), self.symmetric, progress)
            self._kept = kept
        return kept[1]

    def _project(self, problem, progress):
        options = {"tol": self.tol, "max_iter": self.max_iter}
        with progress.stage("projection"):
            if self.eta2 is None:
                n_neighbors = min(self.n_neighbors, problem.similarity.shape[0] - 1)
                result = project_to_neighbors(problem, n_neighbors, **options)
            else:
                result = problem.solve(float(self.eta2), **options)
        if not result.converged:
            warnings.warn(result.status, ConvergenceWarning, stacklevel=3)
        return result

    def __getstate__(self):
        return {name: value for name, value in super().__getstate__().items() if name != "_kept"}

    def _check_parameters(self, n_samples):
        check_positive("eta1", self.eta1)
        if self.eta2 is not None:
            check_positive("eta2", self.eta2)
        check_positive("tol", self.tol)
        for name in ("n_clusters", "n_neighbors", "n_init", "max_iter"):
            check_count(name, getattr(self, name))
        if self.assign_labels not in ("kmeans", "cluster_qr"):
            raise ValueError(
                f"assign_labels={self.assign_labels!r} must be 'kmeans' or 'cluster_qr'"
            )
        if n_samples < self.n_clusters:
            raise ValueError(
                f"n_samples={n_samples} should be >= n_clusters={self.n_clusters}; "
                "ask for fewer clusters"
            )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
