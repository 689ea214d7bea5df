"""What all estimators share: parameters, checks and fitted attributes."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self, TypeVar, dataclass_transform

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import validate_data

from dssc._devices import is_single
from dssc._progress import Progress
from dssc._typing import Array, Matrix, RandomState
from dssc._validation import check_count, check_positive, check_structure
from dssc._warnings import warn_user
from dssc.engines import AffinityGraph
from dssc.engines.cpu import MatrixExpression
from dssc.estimators.copies import copy_cycle, spread_coefficients, spread_plan
from dssc.features import DistinctRows, check_no_zero_rows, distinct_rows
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
class SubspaceClustering(ClusterMixin, BaseEstimator, ABC):
    """Parameters, checks and fitted attributes that all estimators share."""

    n_clusters: int | None = field(default=8, kw_only=False)
    n_components: int | None = None
    assign_labels: str = "kmeans"
    n_init: int = 10
    merge_copies: bool = True
    random_state: RandomState = None

    # Parameters that are positive integers, and those of them that may be None.
    counts: ClassVar[tuple[str, ...]] = ("n_clusters", "n_init")
    optional_counts: ClassVar[tuple[str, ...]] = ("n_clusters",)
    # Parameters that are positive numbers.
    positive: ClassVar[tuple[str, ...]] = ()
    # Parameters with a fixed set of values.
    choices: ClassVar[dict[str, tuple[str, ...]]] = {"assign_labels": ("kmeans", "cluster_qr")}

    @abstractmethod
    def fit(self, X: Any, y: None = None) -> Self:
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
            The fitted estimator. If fitting fails or is interrupted, it stays as it was before.
        """

    @contextmanager
    def _unchanged_on_failure(self, dropped: tuple[str, ...] = ()) -> Iterator[None]:
        """Undo what a fit that raises has set, except for attributes that are `dropped`."""
        before = {name: value for name, value in self.__dict__.items() if name not in dropped}
        try:
            yield
        except BaseException:
            self.__dict__ = before
            raise

    def _validated(self, X: Any) -> Matrix:
        """Return X as a checked matrix of floats, after the parameters have been checked."""
        check_structure("X", X)
        X = validate_data(
            self, X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_min_samples=2
        )
        self._check_parameters(X.shape[0])
        return X

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
        rows: DistinctRows,
    ) -> None:
        """Set the fitted attributes that all estimators have, for all samples."""
        with progress.stage("labels"):
            C = graph.expression.coefficients(graph.projection)
            C = spread_coefficients(C, graph.affinity, rows)
            A = graph.affinity
            if rows.has_copies:
                A = spread_plan(A, rows) if self._is_doubly_stochastic else MatrixExpression(C).K
        if graph.projection is not None:
            self.projection_: Any = graph.projection.in_main_memory()
            self.eta2_ = self.projection_.eta2
            self.n_iter_ = self.projection_.n_iter
            self.n_neighbors_ = mean_neighbors(graph.affinity)
        self.n_clusters_ = n_clusters
        self.labels_ = rows.spread(labels)
        self.representation_matrix_ = C.astype(dtype, copy=False)
        self.affinity_matrix_ = A
        self.embedding_: Array = rows.spread(embedding.astype(dtype, copy=False))
        self.distinct_rows_ = rows.first
        self.timings_ = progress.seconds

    def _record_separate(self, progress: Progress, dtype: type, rows: DistinctRows) -> None:
        """Set the fitted attributes where every distinct point is a cluster: nothing is solved."""
        C, n_points = copy_cycle(rows), rows.n_points
        if self._is_doubly_stochastic:
            self.affinity_matrix_ = spread_plan(sparse.eye_array(n_points), rows)
            self.projection_, self.eta2_, self.n_neighbors_ = None, np.nan, 0.0
        else:
            self.affinity_matrix_ = MatrixExpression(C).K
        if self.n_clusters is None:
            self.eigenvalues_, self.cluster_evidence_ = np.ones(n_points), np.inf
        self.n_clusters_, self.n_iter_ = n_points, 0
        self.labels_ = rows.point_of.astype(np.int32)
        self.representation_matrix_ = C.astype(dtype, copy=False)
        self.embedding_ = rows.spread(np.eye(n_points, dtype=dtype))
        self.distinct_rows_ = rows.first
        self.timings_ = progress.seconds

    @property
    def _is_doubly_stochastic(self) -> bool:
        """Whether rows and columns of the affinity sum to one."""
        return True

    def _find_distinct(self, points: Any, with_opposites: bool = True) -> DistinctRows:
        """Return the distinct points; warn if they are too few to be clustered."""
        check_no_zero_rows(points)  # before samples are renumbered
        if self.merge_copies:
            rows = distinct_rows(points, with_opposites)
        else:
            rows = DistinctRows.separate(points.shape[0])
        if points.shape[1] == 1:
            warn_user(
                "X has n_features=1: scaled to unit norm, every row is 1 or -1, so rows can be "
                "clustered by their sign at most, not by their size. Use ADSSC(affine=True), or "
                "add features",
                UserWarning,
            )
        elif rows.has_copies and rows.n_points < (self.n_clusters or 1):
            warn_user(
                f"the {points.shape[0]} rows of X are {rows.n_points} distinct point(s) once scaled"
                f" to unit norm, so n_clusters={self.n_clusters} clusters cannot be told apart; "
                "each point is a cluster. Ask for fewer clusters, or use ADSSC(affine=True) if "
                "lengths matter",
                UserWarning,
            )
        return rows

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
            warn_user(
                f"n_clusters={count.n_clusters} was estimated on weak evidence: the step after it "
                f"in the spectrum is {count.evidence:.2f} times the largest other step (clear from "
                f"{CLEAR} on), so the number with the highest modularity was taken. See "
                "dssc.plotting.plot_spectrum, and give n_clusters if you know it",
                UserWarning,
            )
        return count.n_clusters

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags; sparse input is accepted."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def dtype_of(X: Any) -> type:
    """Return the type that results have: that of X."""
    return np.float32 if is_single(X) else np.float64
