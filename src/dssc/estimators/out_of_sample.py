"""Predictions for new points."""

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from dssc._typing import Array
from dssc._validation import check_structure
from dssc.features import check_no_zero_rows
from dssc.out_of_sample import FittedClusters
from dssc.subspaces import Subspaces


class OutOfSampleMixin(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """`predict`, `predict_proba` and `transform` for a self-expression by least squares.

    A new point is expressed by the fitted ones and gets the row of the affinity that the projection
    would give it with the fitted potentials. It belongs to the cluster with most of that row.
    """

    labels_: Array
    n_clusters_: int
    _fitted_clusters: FittedClusters  # set by `fit`

    def transform(self, X: Any) -> Array:
        """Return the affinity of new points to each cluster.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New points, none of them zero. A point of the fit is treated as a duplicate of itself:
            part of its affinity goes to that duplicate.

        Returns
        -------
        affinities : ndarray of shape (n_samples, n_clusters)
            The mass of each point's row of the affinity on the members of each cluster. A row sums
            to one, or to less where the point resembles none of the fitted ones: with
            ``symmetric=True`` the rest stays on the point itself, as in the fit.
        """
        return self._masses(X)

    def predict_proba(self, X: Any) -> Array:
        """Return the share of each cluster in the affinity of new points.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New points.

        Returns
        -------
        shares : ndarray of shape (n_samples, n_clusters)
            The affinities of `transform`, each row divided by its sum; equal shares where a point
            has no affinity to any fitted one.
        """
        masses = self._masses(X)
        sums = masses.sum(axis=1, keepdims=True)
        equal = np.full_like(masses, 1.0 / masses.shape[1])
        return np.divide(masses, sums, out=equal, where=sums > 0)

    def predict(self, X: Any) -> Array:
        """Return the cluster of new points: the one with the largest share of their affinity.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New points.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Clusters, numbered as in `labels_`.
        """
        return self.predict_proba(X).argmax(axis=1).astype(self.labels_.dtype)

    def _masses(self, X: Any) -> Array:
        """Return the affinities of `transform` as an array, whatever `set_output` asks for."""
        check_is_fitted(self)
        check_structure("X", X)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        points = self._fitted_clusters.lifted(X)
        check_no_zero_rows(points)
        return self._fitted_clusters.masses(points).astype(X.dtype, copy=False)

    def subspaces(self) -> Subspaces:
        """Return the subspace of every cluster, and how far each fitted point is from its own.

        Returns
        -------
        subspaces : Subspaces
            `bases`, `dimensions`, `residuals` and `outlier_scores`. With ``affine=True`` the points
            have their constant coordinate, so each subspace has one dimension more.
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

    @property
    def _n_features_out(self) -> int:
        return self.n_clusters_
