"""What the estimators of subspaces share: checks of features, copies of points, coefficients."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import validate_data

from dssc._progress import Progress
from dssc._typing import Array, Matrix
from dssc._validation import check_structure
from dssc._warnings import warn_user
from dssc.engines import AffinityGraph
from dssc.engines.cpu import MatrixExpression
from dssc.estimators.affinity_clustering import AffinityClustering, dtype_of, parameters
from dssc.estimators.copies import copy_cycle, spread_coefficients, spread_plan
from dssc.estimators.sample_rows import SampleRows
from dssc.estimators.shapes import refuse_images, warn_if_affinity
from dssc.estimators.usable_rows import UsableRows
from dssc.features import DistinctRows, check_no_zero_rows, distinct_rows

__all__ = ["SubspaceClustering", "dtype_of", "parameters"]


@parameters
class SubspaceClustering(AffinityClustering):
    """Clustering of the rows of X, which are scaled to unit norm and expressed by each other."""

    merge_copies: bool = True

    def _validated(self, X: Any) -> tuple[Matrix, UsableRows]:
        """Return the rows of X that can be clustered, as checked floats, and which they are."""
        refuse_images(X)
        check_structure("X", X)
        X = validate_data(
            self,
            X,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_min_samples=2,
            ensure_all_finite=False,  # checked below, by row
        )
        self._check_parameters(X.shape[0])
        rows = self._usable_rows(X)
        warn_if_affinity(X)
        return rows.select(X), rows

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
        """Set the fitted attributes, for all samples."""
        with progress.stage("labels"):
            C = graph.expression.coefficients(graph.projection)
            C = spread_coefficients(C, graph.affinity, rows.distinct)
            A = graph.affinity
            if rows.distinct.has_copies:
                is_plan = self._is_doubly_stochastic
                A = spread_plan(A, rows.distinct, rows.shares) if is_plan else MatrixExpression(C).K
        super()._record(graph, n_clusters, embedding, labels, progress, dtype, rows)
        self._record_pairs(A, C, dtype, rows)

    def _record_separate(self, progress: Progress, dtype: type, rows: SampleRows) -> None:
        """Set the fitted attributes where every distinct point is a cluster: nothing is solved."""
        distinct = rows.distinct
        C, n_points = copy_cycle(distinct), distinct.n_points
        eye = sparse.csr_array(sparse.eye_array(n_points))
        if self._is_doubly_stochastic:
            A = spread_plan(eye, distinct, rows.shares)
            self.projection_, self.eta2_, self.n_neighbors_ = None, np.nan, 0.0
        else:
            A = MatrixExpression(C).K
        if self.n_clusters is None:
            self.eigenvalues_, self.cluster_evidence_ = np.ones(n_points), np.inf
        self.n_iter_, self.timings_ = 0, progress.seconds
        labels = np.arange(n_points, dtype=np.int32)
        self._record_points(eye, n_points, np.eye(n_points, dtype=dtype), labels, rows)
        self._record_pairs(A, C, dtype, rows)

    def _record_pairs(self, A: Matrix, C: Matrix, dtype: type, rows: SampleRows) -> None:
        """Set what belongs to pairs of samples, from results for the samples that can be used."""
        self.affinity_matrix_ = rows.usable.spread_square(A)
        self.representation_matrix_ = rows.usable.spread_square(C.astype(dtype, copy=False))
        self.distinct_rows_ = rows.first

    @property
    def _is_doubly_stochastic(self) -> bool:
        """Whether rows and columns of the affinity sum to one."""
        return True

    def _find_distinct(
        self, points: Any, usable: UsableRows, with_opposites: bool = True
    ) -> SampleRows:
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
        elif rows.has_copies and rows.n_points < (self.n_clusters or 2):
            wanted = "" if self.n_clusters is None else f"n_clusters={self.n_clusters} "
            warn_user(
                f"the {points.shape[0]} rows of X are {rows.n_points} distinct point(s) once scaled"
                f" to unit norm, so {wanted}clusters cannot be told apart; each point is a "
                "cluster. Ask for fewer clusters, or use ADSSC(affine=True) if lengths matter",
                UserWarning,
            )
        return SampleRows(usable, rows)
