"""A fitted A-DSSC as new points see it."""

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Self

import numpy as np
from sklearn.utils import gen_batches

from dssc import kernels
from dssc._devices import as_array
from dssc._threads import block_threads
from dssc._typing import Array
from dssc.features import homogeneous
from dssc.out_of_sample.affinity_rows import affinity_rows
from dssc.out_of_sample.expression import NewPointExpression
from dssc.out_of_sample.placement import Placement
from dssc.subspaces import Subspaces, fit_subspaces

# New points that a thread works on at once.
ROWS = 512


@dataclass(frozen=True)
class FittedClusters:
    """Clustered points, with what places new points among them.

    Attributes
    ----------
    points : ndarray, csr_array or tensor of shape (n_points, n_features)
        The distinct points of the fit, with a constant coordinate if `height` is given.
    point_of : ndarray of shape (n_samples,)
        The point that each sample of the fit is a copy of.
    height : float or None
        The constant coordinate of affine subspaces.
    labels : ndarray of shape (n_points,)
        Their clusters.
    n_clusters : int
        Number of clusters.
    eta1, eta2, eta3 : float
        Parameters of the fit.
    symmetric : bool
        Whether the affinity is symmetric.
    signed : bool
        Whether coefficients below zero count as zero.
    potentials : ndarray of shape (n_points,)
        Column potentials of the projection.
    weights : ndarray of shape (n_points,) or None
        How often each point counts, with a mean of one. A new point counts once.
    """

    points: Any
    point_of: Array
    height: float | None
    labels: Array
    n_clusters: int
    eta1: float
    eta2: float
    eta3: float
    symmetric: bool
    signed: bool
    potentials: Array
    weights: Array | None = None

    def lifted(self, X: Any) -> Any:
        """Return new points with the constant coordinate, if there is one."""
        return X if self.height is None else homogeneous(X, self.height)

    @cached_property
    def subspaces(self) -> Subspaces:
        """The subspaces of the clusters; residuals and scores are those of the samples."""
        fitted = fit_subspaces(as_array(self.points), self.labels, self.n_clusters)
        return fitted._replace(
            residuals=fitted.residuals[self.point_of],
            outlier_scores=fitted.outlier_scores[self.point_of],
        )

    def place(self, X: Any) -> Placement:
        """Return where new points belong, lifted and none of them zero."""
        if self.eta3 != 0:
            raise NotImplementedError(
                f"new points can be placed for eta3=0 only; this model was fitted with "
                f"eta3={self.eta3!r}"
            )
        out = Placement(np.empty((X.shape[0], self.n_clusters)), np.empty(X.shape[0]))
        places = self._places

        def fill(batch: slice) -> None:
            out.masses[batch], out.potentials[batch] = places(X[batch])

        with block_threads(kernels.n_threads()) as in_threads:
            list(in_threads(fill, gen_batches(X.shape[0], ROWS)))
        return out

    @cached_property
    def _places(self) -> "_Places":
        return _Places(self)

    def in_memory(self) -> Self:
        """Return the same with points in main memory, itself if they are there."""
        points = as_array(self.points)
        return self if points is self.points else replace(self, points=points)

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields, with points in main memory; what was computed on demand is left."""
        fields = self.in_memory().__dict__
        return {name: fields[name] for name in self.__dataclass_fields__}


class _Places:
    """What is computed once to place new points."""

    def __init__(self, fitted: FittedClusters):
        self.expression = NewPointExpression(as_array(fitted.points), fitted.eta1, fitted.weights)
        order = self.expression.order
        self.weights = None if fitted.weights is None else fitted.weights[order]
        self.symmetric, self.eta2, self.n_clusters = (
            fitted.symmetric,
            fitted.eta2,
            fitted.n_clusters,
        )
        self.signed, self.is_limit = fitted.signed, np.isinf(fitted.eta1)
        self.potentials, self.labels = fitted.potentials[order], fitted.labels[order]
        self.remainders = 1.0 - self.expression.leverages
        # An upper bound on the similarity to sample j is |h_j| times this.
        scale = (1.0 + 1.0 / self.remainders) / 2 if self.symmetric else np.ones(len(order))
        self.scale = scale * (1.0 + 1e-6)

    def __call__(self, X: Any) -> Placement:
        """Return where a block of new points belongs."""
        u, own = self.expression(X)
        rows = affinity_rows(
            partial(self._products, u),
            partial(self._similarities, own),
            self.scale,
            self.potentials,
            self.eta2,
            with_self=self.symmetric,
            weights=self.weights,
        )
        return Placement.of(rows, self.labels, self.n_clusters)

    def _products(self, u: Array, columns: slice) -> Array:
        h = u @ self.expression.vectors[columns].T
        return np.maximum(h, 0.0, out=h) if self.signed else np.abs(h, out=h)

    def _similarities(self, own: Array, rows: Array, columns: Array, h: Array) -> Array:
        """Return what the similarity would be if the new point were one of the samples."""
        h = h.astype(np.float64)
        if not self.symmetric or self.is_limit:
            return h
        squares = h**2 if self.weights is None else self.weights[columns] * h**2
        return h / 2 * (1.0 + 1.0 / ((1.0 + own[rows]) * self.remainders[columns] + squares))
