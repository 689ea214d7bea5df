"""Clustering of similarities that are given, or of a graph of nearest neighbours."""

import math
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from dssc._devices import as_array
from dssc._progress import Progress
from dssc._typing import Array, Matrix
from dssc._validation import check_sample_weight, check_structure
from dssc.engines import CpuEngine
from dssc.engines.cpu import GivenSimilarity
from dssc.estimators.affinity_clustering import AffinityClustering, dtype_of, parameters
from dssc.estimators.baseline import check_eta2
from dssc.estimators.compiling import compiling_note
from dssc.estimators.out_of_sample import OutOfSampleMixin
from dssc.estimators.sample_rows import SampleRows
from dssc.estimators.separable import JudgedClusters, SeparationMixin, refuse_weights
from dssc.estimators.shapes import refuse_images
from dssc.estimators.similarities import (
    NeighborSimilarity,
    edges_per_point,
    is_isolated,
    symmetric_part,
    without_self_loops,
)
from dssc.estimators.usable_rows import UsableRows, refuse_rows
from dssc.features import DistinctRows
from dssc.out_of_sample import FittedGraph, Placement
from dssc.outliers import check_contamination
from dssc.pipeline import Settings, affinity_graph, assign, embed
from dssc.stochastic.problem import check_similarity

PRECOMPUTED, NEAREST = "precomputed", "nearest_neighbors"
# Largest mean number of neighbours, as a share of the edges per vertex. To use all edges would take
# an eta2 so large that similarities no longer matter.
LARGEST_SHARE_OF_EDGES = 0.8


@parameters
class GraphClustering(SeparationMixin, OutOfSampleMixin, AffinityClustering):
    r"""Spectral clustering of a graph or a kernel, made doubly stochastic.

    For similarities K between points, the nearest doubly stochastic matrix

    .. math:: A = \arg\min_A -\langle K, A \rangle + \tfrac{\eta_2}{2} \|A\|_F^2
              \quad \text{subject to } A \ge 0, \; A 1 = A^\top 1 = 1

    is computed with a certificate, and clustered by its leading eigenvectors. It is sparse, and no
    point has more weight than another, whatever the degrees of K. This is the second half of
    :class:`dssc.ADSSC`, for data that are no union of subspaces.

    Parameters
    ----------
    n_clusters : int or None, default=8
        Number of clusters. None estimates it from A, and warns when the evidence is weak; see
        :func:`dssc.estimate_n_clusters`.
    affinity : {"precomputed", "nearest_neighbors"} or callable, default="precomputed"
        "precomputed" takes X as similarities between points, larger for pairs that are more alike,
        of any sign: a kernel, or a sparse graph, in which pairs without an entry stay unconnected.
        ``(X + X') / 2`` is used. "nearest_neighbors" takes X as features and connects each point
        with its `n_neighbors` nearest ones in Euclidean distance d; the similarity is ``-d ** 2``.
        A function is called as ``affinity(X)`` and returns the similarities, and as
        ``affinity(new, X)`` for new points, as the kernels of ``sklearn.metrics.pairwise`` are.
    self_loops : bool, default=False
        Whether the diagonal of the similarities counts. Most kernels are largest on the diagonal. A
        would put almost all of its mass there, and say nothing about pairs. So by default a point
        is as similar to itself as the least similar pair, or has similarity zero if that is lower.
        It keeps mass for itself only if its neighbours have no use for it.
    eta2 : float, "components" or None, default=None
        Regularisation of A; larger values give more neighbours per point. None searches for the
        value that gives `n_neighbors`. "components" takes the smallest value that leaves at most
        `n_clusters` connected components.
    n_neighbors : int, default=20
        Mean number of neighbours per point in A (entries off the diagonal above 1e-9) that eta2 is
        chosen for. At most ``n_samples - 1``, and at most 0.8 of the edges per point of a sparse
        graph, are used. Also the number of neighbours for ``affinity="nearest_neighbors"``.
    n_components : int or None, default=None
        Number of eigenvectors. None takes ``2 n_clusters + 2``, with weights that fall after the
        first `n_clusters`; see :class:`dssc.ADSSC`.
    assign_labels : {"kmeans", "cluster_qr"}, default="kmeans"
        How labels are assigned from the eigenvectors; see :func:`dssc.assign_labels`.
    n_init : int, default=10
        Random starts of k-means.
    tol : float, default=1e-8
        Tolerance on the row and column sums of A and on its duality gap.
    max_iter : int, default=1000
        Most Newton steps of the projection.
    verbose : int, default=0
        1 shows stages and time left on standard error.
    random_state : int, RandomState instance or None, default=None
        Randomness of k-means and of the eigensolver's start. Pass an int for repeatable labels.
    invalid_rows : {"error", "label"}, default="error"
        What to do with points that have no similarity to any other, or with rows of features that
        hold NaN or infinite values: raise an error that names them, or give them the label -1 and
        cluster the others. NaN among similarities is always an error.
    contamination : float, default=0.0
        Share of the samples, at most 0.5, that get the label -1: those with the highest
        `outlier_scores_`. `predict` gives it to new points with a higher score than the other
        samples.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample: k-means on the rows of `embedding_`, scaled to unit norm. -1 for
        outliers and for points that could not be used, if asked for.
    confidence_ : ndarray of shape (n_samples,)
        The share of each sample's affinity to others that lies in its own cluster: what
        `predict_proba` gives for a new point. Low between clusters; zero for points that could not
        be used.
    outlier_scores_ : ndarray of shape (n_samples,)
        How dissimilar a sample is to all others: its potential in the projection, in robust
        standard deviations below the median. About zero for typical samples, positive for
        outliers; infinite for points that could not be used.
    outlier_threshold_ : float
        Samples with a higher score have the label -1; infinite with ``contamination=0``.
    affinity_matrix_ : scipy.sparse.csr_array of shape (n_samples, n_samples)
        The doubly stochastic A. Rows and columns of points that could not be used are zero. With
        weights, rows and columns sum to the weights over their mean.
    embedding_ : ndarray of shape (n_samples, n_components)
        Leading eigenvectors of A, times their weights.
    n_clusters_ : int
        The number of clusters.
    eigenvalues_ : ndarray
        Leading eigenvalues that the number was read from, in falling order, when `n_clusters` is
        None; `cluster_evidence_` says how strong the evidence is.
    eta2_ : float
        The eta2 that was used.
    n_neighbors_ : float
        Mean number of neighbours per point in A.
    projection_ : dssc.result.ProjectionResult
        The solver's result, with its certificate, for the points that could be used.
    n_iter_ : int
        Newton steps of the projection.
    timings_ : dict
        Seconds by stage.
    n_features_in_ : int
        Number of features seen during `fit`; of samples, for ``affinity="precomputed"``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features, when X has string names.

    Notes
    -----
    Adding a constant to all similarities, or a number to each row and column, does not change A. So
    ``-d ** 2 / 2`` and the inner products of the points are the same similarities.

    With weights, entry (i, j) of A counts w_i w_j times. `affinity_matrix_` and the plan of
    `projection_` hold the sum over all copies of two samples, divided by the mean weight, so that
    rows and columns sum to the weights over their mean. k-means counts weights, and `n_neighbors`
    counts samples. With ``affinity="nearest_neighbors"``, neighbours are found without weights.

    For new points `predict`, `predict_proba`, `transform` and `outlier_scores` take their features
    or, for ``affinity="precomputed"``, their similarities to the points of the fit, one row per new
    point.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.neighbors import kneighbors_graph
    >>> from dssc import GraphClustering, clustering_accuracy
    >>> X, y = make_moons(300, noise=0.05, random_state=0)
    >>> graph = kneighbors_graph(X, 10)
    >>> clustering_accuracy(y, GraphClustering(2, random_state=0).fit_predict(graph))
    1.0
    """

    affinity: str | Callable[..., Matrix] = PRECOMPUTED
    self_loops: bool = False
    eta2: float | str | None = None
    n_neighbors: int = 20
    tol: float = 1e-8
    max_iter: int = 1000
    verbose: int = 0
    contamination: float = 0.0

    counts: ClassVar[tuple[str, ...]] = ("n_clusters", "n_neighbors", "n_init", "max_iter")
    positive: ClassVar[tuple[str, ...]] = ("tol",)

    def fit(self, X: Any, y: None = None, sample_weight: Any = None) -> Self:
        """Cluster points by their similarities.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_samples) or (n_samples, n_features)
            Similarities for ``affinity="precomputed"``, features otherwise.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            Weights, of which only the ratios matter. A sample of weight 2 counts as two copies of
            it, which have the similarity of the diagonal to each other; see Notes. A sample of
            weight 0 is left out, and gets the label -1; `predict` places it.

        Returns
        -------
        self : object
            The fitted estimator. If fitting fails or is interrupted, it stays as it was before.
        """
        progress = Progress(self.verbose)
        with compiling_note(progress), self._unchanged_on_failure():
            X = self._checked(as_array(X))
            weights = np.ones(X.shape[0])
            if sample_weight is not None:
                weights = check_sample_weight(sample_weight, X.shape[0])
            rng, engine = check_random_state(self.random_state), CpuEngine()

            with progress.stage("similarities"):
                K, rows = self._similarities(X, weights == 0)
                K, lowest = without_self_loops(K, self.self_loops)
            points = SampleRows(rows, DistinctRows.separate(K.shape[0]), rows.select(weights))
            settings, similarity = self._settings(K), GivenSimilarity(K, points.point_weights)
            graph = affinity_graph(similarity, self.n_clusters, settings, progress)
            assert graph.projection is not None
            near = None
            if points.point_weights is None:
                near = similarity.problem.near_pairs(graph.projection)
            n_clusters = self._number_of_clusters(graph, progress)
            embedding = embed(graph, n_clusters, settings, engine, rng, progress)
            labels = assign(graph, embedding, n_clusters, settings, engine, rng, progress)

            self._record(graph, n_clusters, embedding, labels, progress, dtype_of(X), points)
            self.affinity_matrix_ = rows.spread_square(graph.affinity)
            self._record_outliers(self.projection_.potentials[0], self.eta2_, points)
            self._near_pairs = near
            self._features = rows.select(X) if callable(self.affinity) else None
            self._fitted_graph = FittedGraph(
                labels,
                n_clusters,
                self.eta2_,
                self.projection_.potentials[1],
                lowest,
                points.point_weights,
            )
        return self

    def _judged_clusters(self) -> JudgedClusters:
        check_is_fitted(self)
        fitted, points = self._fitted_graph, self._points
        refuse_weights(fitted.weights)
        assert self._near_pairs is not None  # there are no weights
        return JudgedClusters(
            self._near_pairs,
            fitted.eta2,
            fitted.potentials,
            fitted.labels,
            fitted.n_clusters,
            points.rows.first,
        )

    def _checked(self, X: Any) -> Matrix:
        """Return X as checked floats: similarities, or features of which rows may be invalid."""
        refuse_images(X)
        check_structure("X", X)
        X = validate_data(
            self,
            X,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_min_samples=2,
            ensure_all_finite=False,  # checked by row, or below
        )
        self._check_parameters(X.shape[0])
        if self.affinity == PRECOMPUTED:
            self._check_precomputed(X)
        return X

    def _check_precomputed(self, X: Matrix) -> None:
        """Refuse similarities that are not finite or not square."""
        values = X.data if sparse.issparse(X) else X
        n_bad = int(np.count_nonzero(~np.isfinite(values)))
        if n_bad:
            raise ValueError(
                f"X holds {n_bad} NaN or infinite similarities; replace them, or remove the rows "
                "and columns of the points they belong to"
            )
        if X.shape[0] != X.shape[1]:
            raise ValueError(
                f"affinity='precomputed' takes a square matrix of similarities, and X has shape "
                f"{X.shape}; for features use affinity='nearest_neighbors' or a function of X"
            )

    def _similarities(self, X: Matrix, dropped: Array) -> tuple[Matrix, UsableRows]:
        """Return the symmetric similarities of the points that can be used, and which they are.

        Those that are `dropped` are left out from the start.
        """
        self._neighbors: NeighborSimilarity | None = None
        if self.affinity == PRECOMPUTED:
            rows = UsableRows(~dropped)
            self._check_enough(rows.mask)
            K = rows.select_square(symmetric_part(check_similarity(X)))
            return self._connected(K, rows)
        rows = self._usable_rows(X).without(dropped)
        self._check_enough(rows.mask)
        if self.affinity == NEAREST:
            self._neighbors = NeighborSimilarity(rows.select(X), self.n_neighbors)
            return self._neighbors.within(), rows
        assert callable(self.affinity)
        K = check_similarity(self.affinity(rows.select(X)))
        n = int(np.count_nonzero(rows.mask))
        if K.shape != (n, n):
            raise ValueError(f"affinity(X) must return a matrix of shape {(n, n)}, not {K.shape}")
        return self._connected(symmetric_part(K), rows)

    def _connected(self, K: Matrix, rows: UsableRows) -> tuple[Matrix, UsableRows]:
        """Return similarities without points that have none, if these may be left out."""
        isolated = np.flatnonzero(rows.mask)[is_isolated(K)]
        if len(isolated) == 0:
            return K, rows
        if self.invalid_rows == "error":
            refuse_rows(
                isolated, "points without similarity to any other", "connect or remove them"
            )
        connected = UsableRows(~is_isolated(K))
        mask = rows.mask.copy()
        mask[isolated] = False
        self._check_enough(mask)
        return connected.select_square(K), UsableRows(mask)

    def _place(self, X: Any) -> Placement:
        """Return where new points belong, from features or from similarities to all samples."""
        if self._neighbors is not None:
            return self._fitted_graph.place(self._neighbors.between(X))
        if self.affinity == PRECOMPUTED:
            usable = self._points.rows.usable
            K = check_similarity(X if usable.are_all else X[:, np.flatnonzero(usable.mask)])
            return self._fitted_graph.place(K)
        assert callable(self.affinity)
        fitted = self._features
        assert fitted is not None
        K = check_similarity(self.affinity(X, fitted))
        if K.shape != (X.shape[0], fitted.shape[0]):
            raise ValueError(
                f"affinity(new, X) must return a matrix of shape {(X.shape[0], fitted.shape[0])}, "
                f"not {K.shape}"
            )
        return self._fitted_graph.place(K)

    def _zeros_are_valid(self) -> bool:
        """Return whether zero rows can be used: features can, similarities cannot."""
        return self.affinity != PRECOMPUTED

    def _takes_fading_components(self) -> bool:
        return True

    def _settings(self, K: Matrix) -> Settings:
        most = math.ceil(LARGEST_SHARE_OF_EDGES * edges_per_point(K))
        return Settings(
            eta2=self.eta2,
            n_neighbors=min(self.n_neighbors, most),
            n_components=self.n_components,
            fading=True,
            assign_labels=self.assign_labels,
            n_init=self.n_init,
            tol=self.tol,
            max_iter=self.max_iter,
        )

    def _check_parameters(self, n_samples: int) -> None:
        check_eta2(self.eta2, self.n_clusters)
        super()._check_parameters(n_samples)
        check_contamination(self.contamination)
        if self.affinity not in (PRECOMPUTED, NEAREST) and not callable(self.affinity):
            raise ValueError(
                f"affinity={self.affinity!r} must be 'precomputed', 'nearest_neighbors' or a "
                "function of X"
            )

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags; X is pairwise if it holds similarities."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.affinity == PRECOMPUTED
        tags.input_tags.allow_nan &= self.affinity != PRECOMPUTED
        return tags
