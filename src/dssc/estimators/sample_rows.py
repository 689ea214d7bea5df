"""Which samples the points of a fit stand for, and results for all samples."""

from dataclasses import dataclass
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
    """

    usable: UsableRows
    distinct: DistinctRows

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
        The samples they stand for.
    """

    affinity: Matrix
    labels: Array
    embedding: Array
    rows: SampleRows
