"""What all estimators share: parameters, checks and fitted attributes."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self, TypeVar, dataclass_transform

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from dssc._devices import is_single
from dssc._progress import Progress
from dssc._typing import Array, Matrix, RandomState
from dssc._validation import check_count, check_positive
from dssc._warnings import explained, warn_user
from dssc.engines import AffinityGraph
from dssc.estimators.sample_rows import ClusteredPoints, SampleRows
from dssc.estimators.usable_rows import NO_CLUSTER, UsableRows, find_usable_rows
from dssc.exploring import Clusterings, Exploration
from dssc.outliers import share_in_own_cluster
from dssc.spectral import estimate_n_clusters
from dssc.spectral.number import CLEAR, ClusterCount
from dssc.stochastic import mean_neighbors

Estimator = TypeVar("Estimator")


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(field,))
def parameters(cls: type[Estimator]) -> type[Estimator]:
    """Make the annotated attributes of an estimator its parameters.

    A subclass adds its own to those it inherits, so no constructor is written by hand.
    """
    return dataclass(kw_only=True, eq=False, repr=False)(cls)


@parameters
class AffinityClustering(ClusterMixin, BaseEstimator, ABC):
    """Parameters, checks and fitted attributes that all estimators share."""

    n_clusters: int | None = field(default=8, kw_only=False)
    n_components: int | None = None
    assign_labels: str = "kmeans"
    n_init: int = 10
    random_state: RandomState = None
    invalid_rows: str = "error"

    # Parameters that are positive integers, and those of them that may be None.
    counts: ClassVar[tuple[str, ...]] = ("n_clusters", "n_init")
    optional_counts: ClassVar[tuple[str, ...]] = ("n_clusters",)
    # Parameters that are positive numbers.
    positive: ClassVar[tuple[str, ...]] = ()
    # Parameters with a fixed set of values.
    choices: ClassVar[dict[str, tuple[str, ...]]] = {
        "assign_labels": ("kmeans", "cluster_qr"),
        "invalid_rows": ("error", "label"),
    }

    @abstractmethod
    def fit(self, X: Any, y: None = None) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples; at least two, none of them zero unless ``invalid_rows="label"``.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The fitted estimator. If fitting fails or is interrupted, it stays as it was before.
        """

    @contextmanager
    def _unchanged_on_failure(self, dropped: tuple[str, ...] = ()) -> Iterator[None]:
        """Undo what a fit that raises has set, except for attributes that are `dropped`."""
        before = {name: value for name, value in self.__dict__.items() if name not in dropped}
        try:
            yield
        except BaseException as error:
            self.__dict__ = before
            explained(error)
            raise

    def _usable_rows(self, X: Any) -> UsableRows:
        """Return which rows of X can be clustered, if they are enough."""
        rows = find_usable_rows(X, self.invalid_rows, zeros_are_valid=self._zeros_are_valid())
        self._check_enough(rows.mask)
        return rows

    def _check_enough(self, mask: Array) -> None:
        """Refuse data of which too many rows cannot be used."""
        n_usable, needed = np.count_nonzero(mask), max(2, self.n_clusters or 2)
        if n_usable < min(len(mask), needed):
            raise ValueError(
                f"only {n_usable} of {len(mask)} rows of X can be used, and {needed} are needed; "
                "remove the other rows, or ask for fewer clusters"
            )

    def _zeros_are_valid(self) -> bool:
        """Return whether zero rows can be clustered: not if rows are scaled to unit norm."""
        return False

    def _check_parameters(self, n_samples: int) -> None:
        """Raise an error that names the first parameter with an invalid value."""
        for name in self.counts:
            if name not in self.optional_counts or getattr(self, name) is not None:
                check_count(name, getattr(self, name))
        for name in self.positive:
            check_positive(name, getattr(self, name))
        for name, allowed in self.choices.items():
            if getattr(self, name) not in allowed:
                raise ValueError(
                    f"{name}={getattr(self, name)!r} must be {' or '.join(map(repr, allowed))}"
                )
        if self.n_clusters is not None and n_samples < self.n_clusters:
            raise ValueError(
                f"n_samples={n_samples} should be >= n_clusters={self.n_clusters}; "
                "ask for fewer clusters"
            )

    def _record(
        self,
        graph: AffinityGraph,
        n_clusters: int,
        embedding: Array,
        labels: Array,
        progress: Progress,
        dtype: type,
        rows: SampleRows,
    ) -> None:
        """Set the fitted attributes that all estimators have, but for those of pairs of samples."""
        if graph.projection is not None:
            self.projection_: Any = graph.projection.in_main_memory()
            self.eta2_ = self.projection_.eta2
            self.n_iter_ = self.projection_.n_iter
            self.n_neighbors_ = mean_neighbors(graph.affinity)
        embedding = embedding.astype(dtype, copy=False)
        self._record_points(graph.affinity, n_clusters, embedding, labels, rows)
        self.timings_ = progress.seconds

    def _record_points(
        self, affinity: Matrix, n_clusters: int, embedding: Array, labels: Array, rows: SampleRows
    ) -> None:
        """Set labels and embedding, and keep what was clustered for later questions."""
        self.n_clusters_ = n_clusters
        self.labels_ = rows.spread(labels, NO_CLUSTER)
        self.embedding_: Array = rows.spread(embedding, 0.0)
        self._points = ClusteredPoints(affinity, labels, embedding, rows)
        self._confidence: Array | None = None  # computed on demand
        self._clusterings: Clusterings | None = None  # computed on demand

    @property
    def confidence_(self) -> Array:
        """The share of each sample's affinity to others that lies in its own cluster.

        Zero for rows that could not be used. Computed on first access.
        """
        if not hasattr(self, "labels_"):
            raise AttributeError("confidence_ exists after fit")
        if self._confidence is None:
            points = self._points
            shares = share_in_own_cluster(points.affinity, points.labels, self.n_clusters_)
            self._confidence = points.rows.spread(shares, 0.0)
        return self._confidence

    def labels_for(self, n_clusters: int) -> Array:
        """Return labels for another number of clusters, from the affinity of the fit.

        The affinity stays as it is. For fewer clusters than in the fit this costs k-means alone,
        for more of them also eigenvectors, once; from 10,000 points on, those of the fit mostly
        serve up to a third more clusters. A fit with another `n_clusters` would perhaps
        choose other parameters, where these are chosen automatically.

        Parameters
        ----------
        n_clusters : int
            Number of clusters.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Clusters from 0 to ``n_clusters - 1``; a copy of `labels_` for the number of the fit.
            Points with label -1 keep it.
        """
        check_is_fitted(self)
        if n_clusters == self.n_clusters_:
            return self.labels_.copy()
        return self._for_samples(self._all_clusterings().labels(n_clusters))

    def explore(self, counts: Iterable[int] = range(2, 16), *, nested: bool = False) -> Exploration:
        """Cluster the affinity of the fit into several numbers of clusters, to compare them.

        Parameters
        ----------
        counts : iterable of int, default=range(2, 16)
            Numbers of clusters.
        nested : bool, default=False
            Whether every cluster is to be a union of clusters of the next larger number. The
            largest number is clustered as by `labels_for`, and then pairs of clusters are merged,
            each time the pair that leaves the highest modularity.

        Returns
        -------
        exploration : Exploration
            Labels, eigenvalues, modularity and sizes; :func:`dssc.plotting.plot_exploration` shows
            it.
        """
        check_is_fitted(self)
        clusterings = self._all_clusterings()
        found = clusterings.nested(counts) if nested else clusterings.separate(counts)
        return found.for_samples(np.stack([self._for_samples(one) for one in found.labels]))

    def _for_samples(self, labels: Array) -> Array:
        """Return labels of all samples from those of the points; outliers keep the label -1."""
        spread = self._points.rows.spread(labels.astype(self.labels_.dtype), NO_CLUSTER)
        return np.where(self.labels_ == NO_CLUSTER, NO_CLUSTER, spread)

    def _all_clusterings(self) -> Clusterings:
        if self._clusterings is None:
            self._clusterings = Clusterings(
                self._points.affinity,
                self._points.labels,
                self.n_clusters_,
                self._points.embedding,
                fading=self._takes_fading_components(),
                n_components=self.n_components,
                method=self.assign_labels,
                n_init=self.n_init,
                random_state=self.random_state,
                weights=self._points.rows.point_weights,
            )
        return self._clusterings

    def _takes_fading_components(self) -> bool:
        """Return whether the embedding has more eigenvectors than clusters, which fade out."""
        return False

    def _number_of_clusters(
        self, graph: AffinityGraph, progress: Progress, count: ClusterCount | None = None
    ) -> int:
        """Return the given number of clusters, or the one estimated, perhaps already."""
        if self.n_clusters is not None:
            for name in ("eigenvalues_", "cluster_evidence_"):  # of an earlier fit
                self.__dict__.pop(name, None)
            return self.n_clusters
        if count is None:
            with progress.stage("eigenvectors"):
                count = estimate_n_clusters(graph.affinity)
        self.eigenvalues_, self.cluster_evidence_ = count.eigenvalues, count.evidence
        if not count.is_clear:
            warn_user(_weak_evidence(count), UserWarning)
        return count.n_clusters

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: all but what can be computed again."""
        state = {**super().__getstate__()}
        if "_clusterings" in state:
            state["_clusterings"] = None
        return state

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags; sparse input is accepted, and NaN if rows may be invalid."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.invalid_rows == "label"
        return tags


def _weak_evidence(count: ClusterCount) -> str:
    """Return what to say about a number of clusters that is not clear."""
    fewest, most = count.plausible
    advice = "see dssc.plotting.plot_spectrum, and give n_clusters if you know it"
    if count.n_clusters == 1:
        return (
            "n_clusters=1 was estimated on weak evidence: the spectrum shows no clusters, and "
            f"clusterings into more of them do not agree; {advice}"
        )
    others = (
        f"numbers from {fewest} to {most} are supported nearly as well"
        if fewest < most
        else "the support for it is small, though other numbers have less"
    )
    return (
        f"n_clusters={count.n_clusters} was estimated on weak evidence "
        f"({count.evidence:.2f}; clear from {CLEAR} on): {others}; {advice}"
    )


def dtype_of(X: Any) -> type:
    """Return the type that results have: that of X."""
    return np.float32 if is_single(X) else np.float64
