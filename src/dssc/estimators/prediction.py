"""Where new points belong, asked of a fitted A-DSSC."""

from functools import partial

import numpy as np
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_is_fitted, validate_data

from dssc import kernels
from dssc._devices import as_array
from dssc._threads import block_threads
from dssc.estimators.subspaces import Subspaces, fit_subspaces
from dssc.expression import NewPointExpression
from dssc.features import check_no_zero_rows
from dssc.stochastic import join_rows

ROWS = 512  # new points a thread works on at once


class PredictionMixin(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """`predict`, `predict_proba` and `transform` for a self-expression by least squares.

    A new point is expressed by the fitted ones, gets the row of the affinity that the projection
    would give it with the fitted potentials, and belongs where most of that row lies.
    """

    def transform(self, X):
        """Return the affinity of new points to each cluster.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New points, none of them zero. A point of the fit is taken for a duplicate of itself:
            part of its affinity falls on that.

        Returns
        -------
        affinities : ndarray of shape (n_samples, n_clusters)
            The mass of each point's row of the affinity on the members of each cluster. A row sums
            to one, or less where the point resembles none of the fitted ones: with
            ``symmetric=True`` the rest stays on the point itself, as in the fit.
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        points = self._lifted(X)
        check_no_zero_rows(points)
        return self._placement.of(self).masses(points).astype(X.dtype, copy=False)

    def predict_proba(self, X):
        """Return the share of each cluster in the affinity of new points: how sure a label is.

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
        masses = self.transform(X)
        sums = masses.sum(axis=1, keepdims=True)
        equal = np.full_like(masses, 1.0 / masses.shape[1])
        return np.divide(masses, sums, out=equal, where=sums > 0)

    def predict(self, X):
        """Return the cluster of new points: the one with the largest share of their affinity.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New points.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Integers that mean the same clusters as `labels_`.
        """
        return self.predict_proba(X).argmax(axis=1).astype(self.labels_.dtype)

    def subspaces(self):
        """Return the subspace of every cluster, and how far each fitted point is from its own.

        Returns
        -------
        subspaces : Subspaces
            `bases`, `dimensions`, `residuals` and `outlier_scores`. With ``affine=True`` they are
            those of the points with their constant coordinate, so one dimension more.
        """
        check_is_fitted(self)
        return self._placement.subspaces_of(self)

    @property
    def subspace_bases_(self):
        """An orthonormal basis for every cluster, of as many rows as its subspace has dimensions.

        Computed when first asked for; `subspaces` returns more.
        """
        if not hasattr(self, "labels_"):
            raise AttributeError("subspace_bases_ is there after fit")
        return self.subspaces().bases

    @property
    def _n_features_out(self):
        return self.n_clusters_


class Placement:
    """What a fitted model prepares for new points, when first asked; not pickled."""

    def __init__(self):
        self._joined: JoinedPoints | None = None
        self._subspaces: Subspaces | None = None

    def subspaces_of(self, model) -> Subspaces:
        """Return the subspaces of the clusters."""
        if self._subspaces is None:
            self._subspaces = fit_subspaces(
                as_array(model._fit_X), model.labels_, model.n_clusters_
            )
        return self._subspaces

    def of(self, model) -> "JoinedPoints":
        """Return what joins new points to the affinity."""
        if self._joined is None:
            self._joined = JoinedPoints(model)
        return self._joined

    def __reduce__(self):
        return Placement, ()


class JoinedPoints:
    """What is needed to join new points to the affinity of a fitted model."""

    def __init__(self, model):
        if model.eta3 != 0:
            raise NotImplementedError(
                f"new points can be placed for eta3=0 only; this model was fitted with "
                f"eta3={model.eta3!r}"
            )
        self.expression = NewPointExpression(as_array(model._fit_X), model.eta1_)
        order = self.expression.order
        self.symmetric = bool(model.symmetric)
        self.potentials = model.projection_.potentials[1][order]
        self.eta2 = model.eta2_
        self.labels = model.labels_[order]
        self.n_clusters = model.n_clusters_
        self.remainders = 1.0 - self.expression.leverages
        # An upper bound on the similarity to sample j is |h_j| times this.
        scale = (1.0 + 1.0 / self.remainders) / 2 if self.symmetric else np.ones(len(order))
        self.scale = scale * (1.0 + 1e-6)

    def masses(self, X) -> np.ndarray:
        """Return the affinity of new points to each cluster, block by block."""
        out = np.empty((X.shape[0], self.n_clusters))

        def fill(batch):
            out[batch] = self._masses_of_block(X[batch])

        with block_threads(kernels.select().n_threads()) as in_threads:
            for _ in in_threads(fill, gen_batches(X.shape[0], ROWS)):
                pass
        return out

    def _masses_of_block(self, X):
        u, own = self.expression(X)
        rows, columns, values = join_rows(
            partial(self._products, u), partial(self._similarities, own), self.scale,
            self.potentials, self.eta2, self.symmetric,
        )  # fmt: skip
        places = rows, self.labels[columns]
        return sparse.coo_array((values, places), shape=(len(u), self.n_clusters)).toarray()

    def _products(self, u, columns):
        h = u @ self.expression.vectors[columns].T
        return np.abs(h, out=h)

    def _similarities(self, own, rows, columns, h):
        """Return what the similarity would be, were the new point one of the samples."""
        h = h.astype(np.float64)
        if not self.symmetric:
            return h
        return h / 2 * (1.0 + 1.0 / ((1.0 + own[rows]) * self.remainders[columns] + h**2))
