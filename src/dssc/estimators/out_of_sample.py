"""Predictions for new points, and outliers among points."""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from dssc._devices import is_dask
from dssc._typing import Array
from dssc._validation import check_structure
from dssc.estimators.chunks import map_chunks
from dssc.estimators.sample_rows import SampleRows
from dssc.estimators.shapes import refuse_images
from dssc.estimators.usable_rows import NO_CLUSTER, UsableRows, find_usable_rows
from dssc.out_of_sample import Placement
from dssc.outliers import OutlierScale, outlier_scale


class OutOfSampleMixin(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """`predict`, `predict_proba` and `transform` for new points, and scores of outliers.

    A new point gets the row of the affinity that the projection would give it with the fitted
    potentials. It belongs to the cluster with most of that row. For new points in a Dask array the
    results are Dask arrays, computed chunk by chunk when they are needed.
    """

    labels_: Array
    n_clusters_: int
    invalid_rows: str
    contamination: float
    _outlier_scale: OutlierScale  # set by `fit`

    @abstractmethod
    def _place(self, X: Any) -> Placement:
        """Return where checked new points belong."""

    @abstractmethod
    def _zeros_are_valid(self) -> bool:
        """Return whether zero rows can be used."""

    def _portable(self) -> Self:
        """Return the estimator as it is sent to the workers of a cluster."""
        return self

    def _of_chunks(self, method: str, X: Any, n_columns: int | None = None) -> Any:
        """Return the results of a method for a Dask array; points on workers are fetched now."""
        check_is_fitted(self)
        return map_chunks(self._portable(), method, X, n_columns)

    def transform(self, X: Any) -> Array:
        """Return the affinity of new points to each cluster.

        Parameters
        ----------
        X : array-like, sparse matrix or Dask array of shape (n_samples, n_features)
            New points. A point of the fit is treated as a duplicate of itself: part of its affinity
            goes to that duplicate.

        Returns
        -------
        affinities : ndarray of shape (n_samples, n_clusters)
            The mass of each point's row of the affinity on the members of each cluster. A row sums
            to one, or to less where the point resembles none of the fitted ones: in a symmetric
            affinity the rest stays on the point itself, as in the fit. Zero for rows that cannot be
            used, with ``invalid_rows="label"``.
        """
        if is_dask(X):
            return self._of_chunks("transform", X, self.n_clusters_)
        X, rows, placement = self._placed(X)
        return rows.spread(placement.masses.astype(X.dtype, copy=False), 0.0)

    def predict_proba(self, X: Any) -> Array:
        """Return the share of each cluster in the affinity of new points.

        Parameters
        ----------
        X : array-like, sparse matrix or Dask array of shape (n_samples, n_features)
            New points.

        Returns
        -------
        shares : ndarray of shape (n_samples, n_clusters)
            The affinities of `transform`, each row divided by its sum; equal shares where a point
            has no affinity to any fitted one, and zeros for rows that cannot be used, with
            ``invalid_rows="label"``. For points of the fit, `confidence_` is the share of the own
            cluster.
        """
        if is_dask(X):
            return self._of_chunks("predict_proba", X, self.n_clusters_)
        X, rows, placement = self._placed(X)
        return rows.spread(placement.shares().astype(X.dtype, copy=False), 0.0)

    def predict(self, X: Any) -> Array:
        """Return the cluster of new points: the one with the largest share of their affinity.

        Parameters
        ----------
        X : array-like, sparse matrix or Dask array of shape (n_samples, n_features)
            New points.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Clusters, numbered as in `labels_`. -1 for points with an outlier score above
            `outlier_threshold_`, and for rows that cannot be used, with ``invalid_rows="label"``.
        """
        if is_dask(X):
            return self._of_chunks("predict", X)
        _, rows, placement = self._placed(X)
        labels = placement.shares().argmax(axis=1).astype(self.labels_.dtype)
        scores = self._outlier_scale.scores(placement.potentials)
        labels[scores > self.outlier_threshold_] = NO_CLUSTER
        return rows.spread(labels, NO_CLUSTER)

    def outlier_scores(self, X: Any) -> Array:
        """Return how dissimilar new points are to all fitted ones.

        Parameters
        ----------
        X : array-like, sparse matrix or Dask array of shape (n_samples, n_features)
            New points. For those of the fit use `outlier_scores_`: here each would count as similar
            to itself.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            On the scale of `outlier_scores_`: zero is typical, outliers have more. Infinite for
            rows that cannot be used, with ``invalid_rows="label"``.
        """
        if is_dask(X):
            return self._of_chunks("outlier_scores", X)
        _, rows, placement = self._placed(X)
        return rows.spread(self._outlier_scale.scores(placement.potentials), np.inf)

    def _placed(self, X: Any) -> tuple[Any, UsableRows, Placement]:
        """Return checked points that can be used, which they are, and where they belong."""
        check_is_fitted(self)
        refuse_images(X)
        check_structure("X", X)
        X = validate_data(
            self,
            X,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            reset=False,
            # Of features, rows are checked below; among similarities NaN is always an error.
            ensure_all_finite=get_tags(self).input_tags.pairwise,
        )
        zeros_are_valid = self._zeros_are_valid()
        rows = find_usable_rows(X, self.invalid_rows, zeros_are_valid=zeros_are_valid)
        X = rows.select(X)
        return X, rows, self._place(X) if X.shape[0] else Placement.of_none(self.n_clusters_)

    def _record_outliers(self, potentials: Array, eta2: float, rows: SampleRows) -> None:
        """Set the outlier scores, and give the label -1 to the share asked for."""
        self._outlier_scale = outlier_scale(potentials, eta2)
        self.outlier_scores_ = rows.spread(self._outlier_scale.scores(potentials), np.inf)
        usable = np.sort(self.outlier_scores_[rows.usable.mask])
        n_outliers = round(float(self.contamination) * len(usable))
        self.outlier_threshold_ = float(usable[-n_outliers - 1]) if n_outliers else np.inf
        self.labels_ = np.where(
            self.outlier_scores_ > self.outlier_threshold_, NO_CLUSTER, self.labels_
        )

    @property
    def _n_features_out(self) -> int:
        return self.n_clusters_
