"""Where new points belong among clustered ones."""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from dssc._typing import Array
from dssc.out_of_sample.affinity_rows import AffinityRows


class Placement(NamedTuple):
    """New points among clustered ones.

    Attributes
    ----------
    masses : ndarray of shape (n_points, n_clusters)
        The affinity of each point to the members of each cluster.
    potentials : ndarray of shape (n_points,)
        The potential of each point in the projection: low if it resembles no fitted point.
    """

    masses: Array
    potentials: Array

    def shares(self) -> Array:
        """Return masses as shares of their sum; equal ones where there is no mass."""
        sums = self.masses.sum(axis=1, keepdims=True)
        equal = np.full_like(self.masses, 1.0 / self.masses.shape[1])
        return np.divide(self.masses, sums, out=equal, where=sums > 0)

    @classmethod
    def of(cls, rows: AffinityRows, labels: Array, n_clusters: int) -> "Placement":
        """Return the placement by rows of the affinity to points with labels."""
        places = rows.rows, labels[rows.columns]
        shape = len(rows.potentials), n_clusters
        return cls(sparse.coo_array((rows.values, places), shape=shape).toarray(), rows.potentials)

    @classmethod
    def of_none(cls, n_clusters: int) -> "Placement":
        """Return the placement of no points."""
        return cls(np.empty((0, n_clusters)), np.empty(0))
