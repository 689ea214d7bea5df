"""What all estimators share: self-expression, affinity, spectral step."""

import warnings
from abc import ABC, abstractmethod
from contextlib import contextmanager

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from dssc._devices import is_single
from dssc._progress import Progress
from dssc._validation import check_count, check_positive
from dssc.estimators.expressed import ExpressedAsMatrix
from dssc.features import unit_norm
from dssc.spectral import assign_labels, estimate_n_clusters, spectral_embedding
from dssc.stochastic import project_to_components, project_to_neighbors

COMPONENTS = "components"
CHOICES = {
    "affinity": ("symmetric", "doubly_stochastic"),
    "assign_labels": ("kmeans", "cluster_qr"),
}


class SubspaceClustering(ClusterMixin, BaseEstimator, ABC):
    """Express unit rows of X by each other, make an affinity of it, and cluster its eigenvectors.

    A method is a subclass that says how the rows are expressed.

    Parameters
    ----------
    n_clusters : int or None, default=8
        Number of clusters. None estimates it from the affinity, and warns when the evidence is
        weak; see :func:`dssc.estimate_n_clusters`.
    affinity : {"symmetric", "doubly_stochastic"}, default="symmetric"
        ``(|C| + |C|') / 2``, normalised by its degrees in the spectral step; or the doubly
        stochastic matrix nearest to it, (jminA) of the paper, which needs no other normalisation.
        The latter suits a C with more nonzeros a point than the affinity is to have neighbours:
        where they are too few to carry row and column sums of one, as often with SSC and SSC-OMP,
        the nearest matrix puts mass on pairs that are not similar at all.
    eta2 : float, "components" or None, default=None
        Regularisation of the doubly stochastic affinity; larger values give more neighbours a
        point. By default the one is found that gives `n_neighbors`; "components" takes the smallest
        that leaves at most `n_clusters` connected components.
    n_neighbors : int, default=12
        Mean number of neighbours of a point in the doubly stochastic affinity (entries off the
        diagonal above 1e-9) that eta2 is chosen for; ``min(n_neighbors, n_samples - 1)`` is used.
    n_components : int or None, default=None
        Number of eigenvectors, `n_clusters` when not given.
    assign_labels : {"kmeans", "cluster_qr"}, default="kmeans"
        How labels are read off the eigenvectors; see :func:`dssc.assign_labels`.
    n_init : int, default=10
        Random starts of k-means.
    tol : float, default=1e-8
        Tolerance of the solvers: on the optimality conditions of the self-expression, and on the
        sums and the duality gap of a doubly stochastic affinity.
    max_iter : int, default=1000
        Most iterations of each solver.
    random_state : int, RandomState instance or None, default=None
        Randomness of k-means and of the eigensolver's start, and of the self-expression where it
        has any. Pass an int for repeatable labels.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample.
    affinity_matrix_ : scipy.sparse.csr_array or ndarray of shape (n_samples, n_samples)
        The affinity: dense where it is symmetric and C is dense.
    representation_matrix_ : scipy.sparse.csr_array or ndarray of shape (n_samples, n_samples)
        The self-expression C, with ``X ≈ C X`` for the scaled rows, in the dtype of X.
    embedding_ : ndarray of shape (n_samples, n_components)
        Leading eigenvectors of the affinity.
    n_clusters_ : int
        The number of clusters.
    eigenvalues_ : ndarray
        Leading eigenvalues of the affinity that the number was read from, in falling order, when
        `n_clusters` is None; `cluster_evidence_` is how clearly they speak.
    eta2_ : float
        The eta2 that was used, for a doubly stochastic affinity.
    projection_ : dssc.result.ProjectionResult
        The solver's result, with its certificate, for a doubly stochastic affinity.
    n_iter_ : int
        Newton steps of the projection for a doubly stochastic affinity; otherwise iterations of
        the self-expression, one where it has a closed form.
    timings_ : dict
        Seconds by stage.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features, when X has string names.
    """

    _counts: tuple[str, ...] = ("n_clusters", "n_neighbors", "n_init", "max_iter")
    _optional: tuple[str, ...] = ("n_clusters",)
    # Large, and only there to save work: neither held during the next fit nor kept if that fails.
    _reusable: tuple[str, ...] = ()

    def __init__(
        self,
        n_clusters=8,
        *,
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
        self.n_clusters = n_clusters
        self.affinity = affinity
        self.eta2 = eta2
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.assign_labels = assign_labels
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
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
        self : object
            The fitted estimator. Where this fails or is interrupted, it stays what it was before.
        """
        with self._unchanged_on_failure():
            X = self._validated(X)
            self._check_parameters(X.shape[0])
            rng = check_random_state(self.random_state)
            progress = self._progress()

            expressed = self._expressed(X, rng, progress)
            A = self._affinity(expressed, progress)
            with progress.stage("eigenvectors"):
                self.n_clusters_ = k = self._number_of_clusters(A)
                U = self._embed(expressed, A, k, rng)
            with progress.stage("labels"):
                labels = self._assign(expressed, U, k, rng)
                C = expressed.coefficients(A)
            self.labels_ = labels
            dtype = np.float32 if is_single(X) else np.float64
            self.representation_matrix_ = C.astype(dtype, copy=False)
            self.affinity_matrix_ = A
            self.embedding_ = U.astype(dtype, copy=False)
            self.timings_ = progress.seconds
        return self

    @contextmanager
    def _unchanged_on_failure(self):
        """Take back what a fit that raises has set: half of it would contradict the rest."""
        before = {
            name: value for name, value in self.__dict__.items() if name not in self._reusable
        }
        try:
            yield
        except BaseException:
            self.__dict__ = before
            raise

    def _validated(self, X):
        return validate_data(
            self, X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_min_samples=2
        )

    def _embed(self, expressed, A, k, rng):
        return spectral_embedding(A, k, n_components=self.n_components, random_state=rng)

    def _assign(self, expressed, U, k, rng):
        return assign_labels(
            U,
            k,
            method=self.assign_labels,
            n_init=self.n_init,
            similarity=expressed.similarities,
            random_state=rng,
        )

    def _number_of_clusters(self, A):
        """Return the number of clusters: the one given, or what the spectrum of A speaks for."""
        if self.n_clusters is not None:
            for name in ("eigenvalues_", "cluster_evidence_"):  # of an earlier fit
                self.__dict__.pop(name, None)
            return self.n_clusters
        count = estimate_n_clusters(A)
        self.eigenvalues_, self.cluster_evidence_ = count.eigenvalues, count.evidence
        if not count.is_clear:
            warnings.warn(
                f"n_clusters={count.n_clusters} was estimated on weak evidence: its step in the "
                f"spectrum is {count.evidence:.2f} times the largest other one, wanted 1.5, so the "
                "number of highest modularity was taken. Look at dssc.plotting.plot_spectrum, and "
                "give n_clusters if you know it",
                UserWarning,
                stacklevel=3,
            )
        return count.n_clusters

    def _progress(self):
        return Progress()

    def _expressed(self, X, rng, progress):
        with progress.stage("self-expression"):
            return ExpressedAsMatrix(self._express(unit_norm(X), rng))

    @abstractmethod
    def _express(self, X, rng):
        """Return C for rows of unit norm, and set `n_iter_`."""

    def _affinity(self, expressed, progress):
        if self.affinity == "symmetric":
            return expressed.K
        self.projection_ = self._project(expressed.problem, progress)
        self.eta2_ = self.projection_.eta2
        self.n_iter_ = self.projection_.n_iter
        return sparse.csr_array(self.projection_.plan)

    def _neighbors_wanted(self):
        return self.n_neighbors

    def _project(self, problem, progress):
        options = {"tol": self.tol, "max_iter": self.max_iter}
        with progress.stage("projection"):
            if self.eta2 is None:
                n_neighbors = min(self._neighbors_wanted(), problem.similarity.shape[0] - 1)
                result = project_to_neighbors(problem, n_neighbors, **options)
            elif self.eta2 == COMPONENTS:
                result = project_to_components(problem, self.n_clusters, **options)
            else:
                result = problem.solve(float(self.eta2), **options)
        if not result.converged:
            warnings.warn(result.status, ConvergenceWarning, stacklevel=4)
        return result

    def _check_parameters(self, n_samples):
        if self.eta2 == COMPONENTS:
            if self.n_clusters is None:
                raise ValueError("eta2='components' needs n_clusters: give the number of clusters")
        elif self.eta2 is not None:
            check_positive("eta2", self.eta2)
        check_positive("tol", self.tol)
        for name in self._counts:
            if name not in self._optional or getattr(self, name) is not None:
                check_count(name, getattr(self, name))
        for name, allowed in CHOICES.items():
            if getattr(self, name) not in allowed:
                raise ValueError(
                    f"{name}={getattr(self, name)!r} must be {' or '.join(map(repr, allowed))}"
                )
        if self.n_clusters is not None and n_samples < self.n_clusters:
            raise ValueError(
                f"n_samples={n_samples} should be >= n_clusters={self.n_clusters}; "
                "ask for fewer clusters"
            )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
