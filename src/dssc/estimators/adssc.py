"""A-DSSC: self-expression, then its doubly stochastic projection, then the spectral step."""

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from dssc._cluster_rows import ClusterRows
from dssc._devices import as_array, is_tensor
from dssc._progress import Progress
from dssc._typing import Array
from dssc._validation import check_nonnegative, check_positive, check_real, check_sample_weight
from dssc._warnings import warn_user
from dssc.engines import AffinityGraph, Engine, SelfExpression, engine_in_use
from dssc.engines.cpu.engine import MATRIX_FREE_FROM
from dssc.estimators.assessment import AssessmentMixin
from dssc.estimators.base import SubspaceClustering, dtype_of, parameters
from dssc.estimators.baseline import check_eta2
from dssc.estimators.compiling import compiling_note
from dssc.estimators.out_of_sample import OutOfSampleMixin
from dssc.estimators.sample_rows import SampleRows
from dssc.estimators.shapes import refuse_images
from dssc.estimators.usable_rows import UsableRows
from dssc.estimators.warm_start import WarmStart, key_of
from dssc.features import are_orthogonal, homogeneous, typical_norm, unit_norm
from dssc.out_of_sample import FittedClusters, Placement
from dssc.outliers import check_contamination
from dssc.pipeline import COMPONENTS, Settings, affinity_graph, assign, embed, express
from dssc.selection import Candidate, Choice, Given, select
from dssc.selection.neighborhoods import FEWEST
from dssc.spectral import StartVectors
from dssc.stochastic import NearPairs
from dssc.subspaces import Subspaces

# The eta1 and the number of neighbours where nothing is chosen.
DEFAULT_ETA1, DEFAULT_NEIGHBORS = 1.0, 12
# An eta2 so small that a new point has affinity to the most similar point only.
NEAREST_ETA2 = 1e-6


@parameters
class ADSSC(AssessmentMixin, OutOfSampleMixin, SubspaceClustering):
    r"""Approximate doubly stochastic subspace clustering (A-DSSC).

    Rows of X are scaled to unit norm and expressed by each other,

    .. math:: C = \arg\min_C \tfrac12 \|X - C X\|_F^2 + \tfrac{\eta_1}{2} \|C\|_F^2
              + \eta_3 \|C\|_1 \quad \text{subject to } \mathrm{diag}(C) = 0 ;

    the magnitudes of the coefficients are projected onto the doubly stochastic matrices,

    .. math:: A = \arg\min_A -\langle |C|, A \rangle + \tfrac{\eta_2}{2} \|A\|_F^2
              \quad \text{subject to } A \ge 0, \; A 1 = A^\top 1 = 1 ;

    and A, which needs no further normalisation, is clustered by its leading eigenvectors.

    Parameters
    ----------
    n_clusters : int or None, default=8
        Number of clusters. None estimates it from A, and warns when the evidence is weak; see
        :func:`dssc.estimate_n_clusters`.
    eta1 : float or None, default=None
        Ridge penalty of the self-expression. A small value suits clusters that are subspaces, a
        large one clusters that are directions, such as those of text or image embeddings.
        ``numpy.inf`` gives the limit of ``eta1 C``: the cosines between points. None chooses it
        automatically, see Notes.
    eta2 : float, "components" or None, default=None
        Regularisation of the affinity; larger values give more neighbours per point. The right
        value depends on the scale of C, which differs by orders of magnitude between data sets. So
        None searches for the value that gives `n_neighbors`. "components" takes the smallest value
        that leaves at most `n_clusters` connected components, as the paper suggests.
    eta3 : float, default=0.0
        l1 penalty of the self-expression. Zero gives a dense C in closed form, which is never
        formed for large data; a positive value gives a sparse C, by the elastic net.
    n_neighbors : int or None, default=None
        Mean number of neighbours per point in A (entries off the diagonal above 1e-9) that eta2 is
        chosen for; ``min(n_neighbors, n_samples - 1)`` is used. Ignored when `eta2` is given. None
        chooses it automatically, see Notes.
    signed : bool or None, default=None
        Whether signs of coefficients count. True takes a negative coefficient as no similarity.
        False takes magnitudes, as the paper does, which is right if a cluster holds the opposite of
        each of its points. None chooses automatically where `eta1` or `n_neighbors` is chosen, and
        means False elsewhere.
    symmetric : bool, default=True
        Whether to project ``(|C| + |C|') / 2``, which is the same as asking for a symmetric A.
        False projects \|C\| as the paper does.
    affine : bool, default=False
        Whether clusters are affine subspaces, which need not pass through the origin. A constant
        coordinate, as large as the norm of a typical point, is added to all points: it turns an
        affine subspace into a linear one of one dimension more, exactly, whereas asking for
        coefficients that sum to one would cost the closed form.
    n_components : int or None, default=None
        Number of eigenvectors. None takes ``2 n_clusters + 2``; those after the first `n_clusters`
        get weights that fall with their eigenvalues, to almost zero after a clear gap. With
        ``assign_labels="cluster_qr"``, and in all other estimators, None means `n_clusters`. The
        paper takes `n_clusters`, and one more for MNIST.
    assign_labels : {"kmeans", "cluster_qr"}, default="kmeans"
        How labels are assigned from the eigenvectors; see :func:`dssc.assign_labels`.
    n_init : int, default=10
        Random starts of k-means. The best result is kept or, where the labels come with the choice
        of parameters, the best quarter of the results in three embeddings votes; see Notes.
    merge_copies : bool, default=True
        Whether rows that are equal up to their length (and up to their sign, where signs do not
        count) are clustered as one point. Their copies get its label. False treats them as separate
        points, as the paper does: each then expresses its copies, and the graph may fall apart.
    tol : float, default=1e-8
        Tolerance on the row and column sums of A and on its duality gap.
    max_iter : int, default=1000
        Most Newton steps of the projection.
    warm_start : bool, default=False
        Whether to keep what the next `fit` can reuse. With the same X, `eta1` and `symmetric`, the
        next fit then costs a projection at most, for any `eta2`, `n_neighbors` or `n_clusters`. The
        similarities found so far stay valid; where another eta2 needs more of them, the certificate
        shows it and they are read. Keeps X in memory; not pickled.
    device : {"cpu", "cuda", "cuda:<number>", "torch"} or None, default=None
        The engine: compiled code on the CPU; torch on a GPU; or torch on the CPU, for comparison.
        With ``eta3 > 0`` a GPU searches the samples, and the CPU solves what these searches leave
        and projects. None chooses by where X lives, which may be a torch tensor, or a Dask array:
        its pairs are searched by the workers of the active client. With ``"cuda"`` each of these
        uses the GPU that it sees.
        Results are NumPy and SciPy objects in every case.
    verbose : int, default=0
        1 shows stages, speed and time left on standard error.
    random_state : int, RandomState instance or None, default=None
        Randomness of k-means and of the eigensolver's start. Pass an int for repeatable labels.
    invalid_rows : {"error", "label"}, default="error"
        What to do with rows that are zero (allowed with ``affine=True``) or hold NaN or infinite
        values: raise an error that names them, or give them the label -1 and cluster the others.
        "label" does the same in `predict`, and they get no share in `predict_proba`.
    contamination : float, default=0.0
        Share of the samples, at most 0.5, that get the label -1: those with the highest
        `outlier_scores_`. `predict` gives it to new points with a higher score than the other
        samples.
    checkpoint : path or None, default=None
        For a Dask array, a folder for results of parts of the search of all pairs. If a fit is
        interrupted, or its process is killed, the next fit of the same X goes on from there, with
        the same results. A folder that belongs to other data, and damaged files, are refused.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample. If parameters were chosen on all samples, this is the vote of the
        best clusterings that were tried (see Notes); otherwise k-means on the rows of `embedding_`,
        scaled to unit norm. -1 for outliers and for rows that could not be used, if asked for.
    confidence_ : ndarray of shape (n_samples,)
        The share of each sample's affinity to others that lies in its own cluster: what
        `predict_proba` gives for a new point. Low between clusters; zero for rows that could not be
        used.
    outlier_scores_ : ndarray of shape (n_samples,)
        How dissimilar a sample is to all others: its potential in the projection, in robust
        standard deviations below the median. About zero for typical samples, positive for
        outliers; infinite for rows that could not be used.
    outlier_threshold_ : float
        Samples with a higher score have the label -1; infinite with ``contamination=0``.
    affinity_matrix_ : scipy.sparse.csr_array of shape (n_samples, n_samples)
        The doubly stochastic A, in float64. Rows and columns of samples that could not be used are
        zero. With weights, rows and columns sum to the weights over their mean; see Notes.
    representation_matrix_ : ndarray or csr_array of shape (n_samples, n_samples)
        The self-expression C, with ``X ≈ C X`` for the scaled rows, in the dtype of X. From 2,000
        samples on, if there are more samples than features, and on a device, C is never formed, and
        this holds its entries where A is positive.
    embedding_ : ndarray of shape (n_samples, n_components)
        Leading eigenvectors of A, times their weights.
    n_clusters_ : int
        The number of clusters.
    eigenvalues_ : ndarray
        Leading eigenvalues that the number was read from, in falling order, when `n_clusters` is
        None; `cluster_evidence_` says how strong the evidence is.
    eta1_, eta2_ : float
        The eta1 and eta2 that were used.
    n_neighbors_ : float
        Mean number of neighbours per point in A.
    signed_ : bool
        Whether signs of coefficients counted.
    candidates_ : list of Candidate
        The parameters that were tried, the best first; see :class:`dssc.selection.Candidate`.
    explanation_ : str
        What was chosen and why, in words; empty if nothing was.
    projection_ : dssc.result.ProjectionResult
        The solver's result, with its certificate, for the distinct points among the rows that can
        be used. None if there are copies, and no more distinct points than clusters: then each of
        them is a cluster, and nothing is solved.
    n_iter_ : int
        Newton steps of the projection.
    distinct_rows_ : ndarray of shape (n_points,)
        The first sample of every distinct point. `projection_` and `n_neighbors_` belong to these
        points. In the other attributes copies have the embedding and coefficients of their point,
        and share its affinity to other points equally.
    subspace_bases_ : list of ndarray of shape (dimension, n_features)
        An orthonormal basis for every cluster, computed on first access; `subspaces` returns more.
    timings_ : dict
        Seconds by stage: "choice" of parameters, "comparison" with an earlier fit, "factor" or
        "self-expression", "scan" of all pairs, "projection", "eigenvectors", "labels". Work that
        the choice has done already is part of "choice".
    work_ : dict
        For a Dask array, what the search of all pairs took: on a cluster "tasks" computed, "tasks
        repeated" because their result was damaged on its way, "bytes received" and "bytes between
        workers"; with a `checkpoint`, "parts from the checkpoint". Empty for other data, and if the
        search was part of the choice of parameters, as it is for up to 8,000 points.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features, when X has string names.

    Notes
    -----
    *Weights*: with W = diag(sample_weight), each copy of sample j has the coefficient

    .. math:: C_{ij} = h_{ij} / (1 - w_i h_{ii}), \quad
              h_{ij} = x_i^\top (X^\top W X + \eta_1 I)^{-1} x_j , \quad i \ne j ,

    and entry (i, j) of A counts w_i w_j times. `affinity_matrix_` and `projection_.plan` hold sums
    over all copies of two samples, divided by the mean weight: their rows and columns sum to the
    weights over their mean. `representation_matrix_` sums coefficients over copies, too, so
    that ``X ≈ C X``. k-means counts weights. `n_neighbors` counts samples, whatever their weights,
    and eta1 and signs are chosen without weights. If all weights are multiplied by c, a given eta1
    has to be multiplied by c for the same result; an eta1 that is chosen, or infinite, adapts. If
    weights are given, those of equal rows are added up, whereas without weights equal rows count
    once. `stability` clusters halves of the samples without their weights.

    If `eta1` or `n_neighbors` is None, three things are chosen without labels.

    *eta1*: for 320 points, a neighbourhood is made of their strongest neighbours and those of
    these. The eta1 is taken for which a point is closest to the leading directions of its
    neighbourhood, to which it does not belong itself. *Signs*: they count unless the nearest
    neighbour of a point is as often on the opposite side of the origin, and clusterings are not
    clearer with signs. Both need a sample of 2,000 points at most, or 40 per cluster.

    *n_neighbors*: 1.5 times the number of directions in which points vary locally (Levina and
    Bickel, 2005), but from 4 to 40, and no more than the mean size of a cluster. If the graph has
    more components than clusters, or 0.5 % of the points are in components of about half as many
    points, the number grows.

    *Labels*: the graph is clustered in three embeddings of the same eigenvectors, from `n_init`
    starts in each: with fading weights (`embedding_`), the first `n_clusters` only, and scaled by
    commute times of the random walk. The quarter with the highest modularity votes. Beyond 8,000
    points this would take long, and labels are k-means in `embedding_`. `candidates_` and
    `explanation_` say what was found.

    With ``affine=True`` clusters are known to be flat. Then three values of eta1 are tried with 12,
    24 and 48 neighbours each, and the clustering is taken whose held-out points are nearest to the
    subspace of their cluster, of dimension 2 to 4.

    Nothing is chosen if a number is given for `eta2`, with ``eta3 > 0``, or below 12 points: then
    eta1 is 1 and n_neighbors is 12 where they are not given.

    `predict`, `predict_proba` and `transform` place new points; see the methods.

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

    eta1: float | None = None
    eta2: float | str | None = None
    eta3: float = 0.0
    n_neighbors: int | None = None
    signed: bool | None = None
    symmetric: bool = True
    affine: bool = False
    tol: float = 1e-8
    max_iter: int = 1000
    warm_start: bool = False
    device: str | None = None
    verbose: int = 0
    contamination: float = 0.0
    checkpoint: str | PathLike[str] | None = None

    counts: ClassVar[tuple[str, ...]] = ("n_clusters", "n_neighbors", "n_init", "max_iter")
    optional_counts: ClassVar[tuple[str, ...]] = ("n_clusters", "n_neighbors")

    def fit(self, X: Any, y: None = None, sample_weight: Any = None) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like, sparse matrix, torch tensor or Dask array of shape (n_samples, n_features)
            Samples; at least two, none of them zero unless ``invalid_rows="label"``.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            Weights, on the CPU and with ``eta3=0``. A sample of weight 2 counts as two copies of it
            that do not express each other; see Notes. A sample of weight 0 is left out, and gets
            the label -1; `predict` places it.

        Returns
        -------
        self : object
            The fitted estimator. If fitting fails or is interrupted, it stays as it was before.
        """
        progress = Progress(self.verbose)
        with (
            compiling_note(progress),
            self._unchanged_on_failure(dropped=("_reusable",)),
            engine_in_use(self.device, X, self.checkpoint) as engine,
        ):
            X, usable = self._checked(X, engine, weighted=sample_weight is not None)
            rng = check_random_state(self.random_state)

            X, usable, weights = self._weighted(X, usable, sample_weight)
            rows = self._distinct(X, usable).weighted(weights)
            points, height = self._lifted(rows.take(X))
            if rows.distinct.are_clusters(self.n_clusters):
                return self._fit_separate(points, height, rows, progress)
            choice = self._choose(points, rows, engine, rng, progress)
            progress.note(choice.explanation)
            settings = self._settings(choice.best, rows.mean_weight)
            expression = self._express(points, rows, choice, settings, engine, progress)
            graph = choice.graph or affinity_graph(expression, self.n_clusters, settings, progress)
            graph = replace(graph, start=self._kept().start)
            near_pairs = self._begin_near_pairs(points, graph, expression, engine, progress)
            n_clusters = self._number_of_clusters(graph, progress, choice.count)
            embedding, labels = choice.embedding, choice.labels  # of all points, where known
            if embedding is None:
                embedding = embed(graph, n_clusters, settings, engine, rng, progress)
            if labels is None:
                labels = assign(graph, embedding, n_clusters, settings, engine, rng, progress)

            self._record(graph, n_clusters, embedding, labels, progress, dtype_of(X), rows)
            self._record_outliers(self.projection_.potentials[0], self.eta2_, rows)
            self._verdict = None  # computed on demand
            self._near_pairs = None
            if near_pairs is not None:
                with progress.stage("near pairs"):
                    self._near_pairs = near_pairs()
            self.work_ = progress.counts
            self.candidates_, self.explanation_ = choice.candidates, choice.explanation
            self.eta1_, self.signed_ = float(choice.best.eta1), settings.signed
            self._fitted_clusters = FittedClusters(
                points=points,
                point_of=rows.distinct.point_of,
                height=height,
                labels=labels,
                n_clusters=n_clusters,
                eta1=settings.eta1,
                eta2=self.eta2_,
                eta3=settings.eta3,
                symmetric=settings.symmetric,
                signed=settings.signed,
                potentials=self.projection_.potentials[1],
                weights=rows.point_weights,
            )
            self._warn_if_orthogonal(points)
        return self

    def _begin_near_pairs(
        self,
        points: Any,
        graph: AffinityGraph,
        expression: SelfExpression,
        engine: Engine,
        progress: Progress,
    ) -> Callable[[], NearPairs | None] | None:
        """Begin to gather what `separation` needs, where it would take long to find it again."""
        assert graph.projection is not None
        is_provable = self.symmetric and expression.weights is None
        is_quick = graph.affinity.shape[0] < MATRIX_FREE_FROM
        is_kept = self.warm_start and isinstance(points, np.ndarray)
        if not is_provable or is_quick or is_kept:
            return None
        with progress.stage("near pairs"):
            return engine.aside(partial(expression.problem.near_pairs, graph.projection))

    def _checked(self, X: Any, engine: Engine, weighted: bool) -> tuple[Any, UsableRows]:
        """Return the samples to cluster where the engine wants them, and which they are."""
        refuse_images(X)
        check_real("X", X)
        X = engine.check(X)
        if is_tensor(X) or isinstance(X, ClusterRows):
            self._check_parameters(len(X))
            usable = self._usable_rows(X)
            X = usable.select(X)
            self.n_features_in_ = X.shape[1]
        else:
            X, usable = self._validated(X)
        engine.check_model(self.eta3, self.symmetric, weighted)
        return X, usable

    def _weighted(
        self, X: Any, usable: UsableRows, sample_weight: Any
    ) -> tuple[Any, UsableRows, Array | None]:
        """Return samples of positive weight, which they are, and their weights."""
        if sample_weight is None:
            return X, usable, None
        weights = check_sample_weight(sample_weight, len(usable.mask))
        kept = usable.without(weights == 0)
        self._check_enough(kept.mask)
        return UsableRows(kept.mask[usable.mask]).select(X), kept, kept.select(weights)

    def _zeros_are_valid(self) -> bool:
        return bool(self.affine)

    def _takes_fading_components(self) -> bool:
        return True

    def _place(self, X: Any) -> Placement:
        points = self._fitted_clusters.lifted(X)
        return self._fitted_clusters.place(points)

    def _portable(self) -> Self:
        """Return the estimator with its points in main memory, where they were on workers.

        Pickling would bring them here, too. But Dask pickles under a lock for which its own thread
        can wait, and then nothing arrives.
        """
        fitted = self._fitted_clusters.in_memory()
        if fitted is self._fitted_clusters:
            return self
        estimator = copy(self)
        estimator._fitted_clusters = fitted
        return estimator

    def subspaces(self) -> Subspaces:
        """Return the subspace of every cluster, and how far each fitted point is from its own.

        Returns
        -------
        subspaces : Subspaces
            `bases`, `dimensions`, `residuals` and `outlier_scores`, of the points that could be
            used. With ``affine=True`` the points have their constant coordinate, so each subspace
            has one dimension more.
        """
        check_is_fitted(self)
        return self._fitted_clusters.subspaces

    @property
    def subspace_bases_(self) -> list[Array]:
        """An orthonormal basis for every cluster, with one row per dimension of its subspace.

        Computed on first access; `subspaces` returns more.
        """
        if not hasattr(self, "labels_"):
            raise AttributeError("subspace_bases_ exists after fit")
        return self.subspaces().bases

    def _lifted(self, X: Any) -> tuple[Any, float | None]:
        """Return the points with their constant coordinate, and that coordinate, if affine."""
        if not self.affine:
            return X, None
        X = as_array(X) if is_tensor(X) else X
        height = typical_norm(X)
        return homogeneous(X, height), height

    def _distinct(self, X: Any, usable: UsableRows) -> SampleRows:
        """Return the distinct points; opposites are equal where signs are known not to count."""
        is_unsigned = self._is_given(X.shape[0]) if self.signed is None else not self.signed
        return self._find_distinct(self._lifted(X)[0], usable, with_opposites=is_unsigned)

    def _fit_separate(
        self, points: Any, height: float | None, rows: SampleRows, progress: Progress
    ) -> Self:
        """Make every distinct point a cluster; new points go to the most similar one."""
        n_points = rows.distinct.n_points
        self._record_separate(progress, dtype_of(points), rows)
        # None of the points is more unusual than another.
        self._record_outliers(np.zeros(n_points), NEAREST_ETA2, rows)
        self.candidates_, self.explanation_, self.work_ = [], "", {}
        self.eta1_ = float(self.eta1 or DEFAULT_ETA1)
        self.signed_ = self.signed is None or self.signed
        self._fitted_clusters = FittedClusters(
            points=points,
            point_of=rows.distinct.point_of,
            height=height,
            labels=np.arange(n_points),
            n_clusters=n_points,
            eta1=self.eta1_,
            eta2=NEAREST_ETA2,
            eta3=float(self.eta3),
            symmetric=bool(self.symmetric),
            signed=self.signed_,
            potentials=np.zeros(n_points),
        )
        return self

    def _warn_if_orthogonal(self, points: Any) -> None:
        n, d = points.shape
        if 1 < self.n_clusters_ < n <= d and are_orthogonal(unit_norm(as_array(points))):
            warn_user(
                f"all {n} distinct samples are orthogonal to each other, so that none can be "
                "expressed by others and labels are arbitrary; use features that samples have in "
                "common",
                UserWarning,
            )

    def _is_given(self, n_samples: int) -> bool:
        """Return whether there is nothing to choose."""
        is_given = self.eta1 is not None and (self.n_neighbors or self.eta2) is not None
        is_given = is_given or self.eta2 not in (None, COMPONENTS) or self.eta3 != 0
        return is_given or n_samples < FEWEST

    def _choose(
        self,
        points: Any,
        rows: SampleRows,
        engine: Engine,
        rng: np.random.RandomState,
        progress: Progress,
    ) -> Choice:
        """Return candidates for the parameters that are None; one if nothing is to be chosen."""
        weights, mean_weight = rows.point_weights, rows.mean_weight
        if self._is_given(points.shape[0]):
            n_neighbors = self.n_neighbors or (DEFAULT_NEIGHBORS if self.eta2 is None else None)
            eta1 = self.eta1 or DEFAULT_ETA1 * mean_weight
            return Choice([Candidate(eta1, n_neighbors, bool(self.signed))])
        with progress.stage("choice"):
            params = self.get_params(), weights, mean_weight
            key = key_of(points, *params) if self.warm_start else ""
            kept = self._kept()
            if key and kept.choice is not None and kept.choice_key == key:
                return kept.choice
            given_eta1 = None if self.eta1 is None else self.eta1 / mean_weight
            given = Given(
                self.n_clusters, given_eta1, self.signed, bool(self.affine), weights, mean_weight
            )
            choice = select(points, given, self._settings(), engine, rng)
            if key:
                self._reusable = replace(kept, choice_key=key, choice=choice)
            return choice

    def _express(
        self,
        points: Any,
        rows: SampleRows,
        choice: Choice,
        settings: Settings,
        engine: Engine,
        progress: Progress,
    ) -> SelfExpression:
        """Return the self-expression: of the choice, of the last fit, or a new one."""
        known = choice.graph.expression if choice.graph else None
        weights = rows.point_weights
        if not self.warm_start:
            self._reusable = WarmStart()
            return known or express(points, settings, engine, progress, weights)
        with progress.stage("comparison"):
            given = settings.eta1, settings.eta3, settings.signed, settings.symmetric, self.device
            key = key_of(points, *given, weights)
        kept = self._kept()
        if kept.expression is not None and kept.expression_key == key:
            return kept.expression
        self._reusable = kept = replace(kept, expression=None)  # frees memory for the new one
        expression = known or express(points, settings, engine, progress, weights)
        self._reusable = replace(
            kept, expression_key=key, expression=expression, start=StartVectors()
        )
        return expression

    def _kept_expression(self) -> SelfExpression | None:
        return self._kept().expression

    def _kept(self) -> WarmStart:
        return getattr(self, "_reusable", None) or WarmStart()

    def _settings(self, candidate: Candidate | None = None, mean_weight: float = 1.0) -> Settings:
        """Return the parameters of a run: those given, or with what a candidate sets.

        A run has weights with a mean of one, so its eta1 is that of the candidate over the mean.
        """
        settings = Settings(
            eta2=self.eta2,
            eta3=float(self.eta3),
            n_neighbors=self.n_neighbors,
            symmetric=bool(self.symmetric),
            n_components=self.n_components,
            fading=True,
            assign_labels=self.assign_labels,
            n_init=self.n_init,
            tol=self.tol,
            max_iter=self.max_iter,
        )
        if candidate is None:
            return settings
        return replace(
            settings,
            eta1=float(candidate.eta1) / mean_weight,
            n_neighbors=candidate.n_neighbors,
            signed=candidate.signed,
        )

    def _fitted_settings(self) -> Settings:
        fitted = self._fitted_clusters
        return replace(self._settings(), eta1=fitted.eta1, signed=fitted.signed)

    def _check_parameters(self, n_samples: int) -> None:
        check_eta2(self.eta2, self.n_clusters)
        check_positive("tol", self.tol)
        super()._check_parameters(n_samples)
        if self.eta1 is not None and self.eta1 != np.inf:
            check_positive("eta1", self.eta1)
        if self.eta1 == np.inf and self.eta3 != 0:
            raise ValueError(f"eta1={self.eta1!r} needs eta3=0; eta3={self.eta3!r}")
        if self.signed not in (None, True, False):
            raise ValueError(f"signed={self.signed!r} must be True, False or None")
        check_nonnegative("eta3", self.eta3)
        check_contamination(self.contamination)

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: all but what only saves work."""
        state = {**super().__getstate__()}
        state.pop("_reusable", None)
        if "_verdict" in state:
            state["_verdict"] = None
        return state
