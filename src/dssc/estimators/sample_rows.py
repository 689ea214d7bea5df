"""Which samples the points of a fit stand for, and results for all samples."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from dssc._typing import Array, Matrix
from dssc.estimators.usable_rows import UsableRows
from dssc.features import DistinctRows


@dataclass(frozen=True)
class SampleRows:
    """The points of a fit: the distinct ones among the samples that can be used.

    Attributes
    ----------
    usable : UsableRows
        The samples that can be used.
    distinct : DistinctRows
        The distinct points among these.
    sample_weight : ndarray of shape (n_usable,) or None
        Positive weights of the samples that can be used, if they were given. Those of copies are
        added up.
    """

    usable: UsableRows
    distinct: DistinctRows
    sample_weight: Array | None = None

    def weighted(self, sample_weight: Array | None) -> "SampleRows":
        """Return the rows with weights of the samples that can be used."""
        return replace(self, sample_weight=sample_weight)

    @cached_property
    def mean_weight(self) -> float:
        """Mean weight of a point; one if no weights were given."""
        if self.sample_weight is None:
            return 1.0
        return float(np.sum(self.sample_weight) / self.distinct.n_points)

    @cached_property
    def point_weights(self) -> Array | None:
        """Weights of the points, divided by their mean; None if all points count the same."""
        if self.sample_weight is None:
            return None
        weights = np.bincount(self.distinct.point_of, self.sample_weight)
        return None if np.all(weights == weights[0]) else weights / weights.mean()

    @property
    def shares(self) -> Array | None:
        """The share of every sample in the weight of its point; None if no weights were given."""
        if self.sample_weight is None:
            return None
        point_of = self.distinct.point_of
        return self.sample_weight / np.bincount(point_of, self.sample_weight)[point_of]

    def take(self, X: Any) -> Any:
        """Return the distinct points of samples that can be used."""
        return self.distinct.take(X)

    @property
    def first(self) -> Array:
        """The first sample of every point, counted among all samples."""
        return np.flatnonzero(self.usable.mask)[self.distinct.first]

    def spread(self, values: Array, fill: float) -> Array:
        """Return values of all samples from those of the points; `fill` if one is not usable."""
        return self.usable.spread(self.distinct.spread(values), fill)


@dataclass(frozen=True)
class ClusteredPoints:
    """What was clustered: the points of a fit, before results are given to all samples.

    Attributes
    ----------
    affinity : csr_array or ndarray of shape (n_points, n_points)
        Affinity of the points.
    labels : ndarray of shape (n_points,)
        Their clusters, also those of outliers.
    embedding : ndarray of shape (n_points, n_components)
        Their embedding.
    rows : SampleRows
        The samples they stand for, with their weights.
    """

    affinity: Matrix
    labels: Array
    embedding: Array
    rows: SampleRows
