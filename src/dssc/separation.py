"""Which clusters are proved to be disconnected, and through which points others touch.

The exact affinity is ``A*_ij = [K_ij - alpha_i - alpha_j]_+ / eta2``, with exact potentials alpha.
So two clusters are disconnected if every slack ``K_ij - alpha_i - alpha_j`` between them is at most
zero. Computed potentials have errors, which :mod:`dssc.stochastic.potential_error` bounds. Two
clusters are proved to be separate if all slacks between them stay below zero with these errors,
and with rounding, added. Only pairs with slacks near zero are needed for this; see
:mod:`dssc.stochastic.near_pairs`.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse

from dssc._typing import Array
from dssc.stochastic import NearPairs
from dssc.stochastic.accurate_projection import AccurateProjection, accurate_projection
from dssc.stochastic.cluster_slacks import largest_slacks


class TouchingPair(NamedTuple):
    """Two points of different clusters, and their affinity."""

    first: int
    second: int
    affinity: float


@dataclass(frozen=True)
class Separation:
    """Which clusters are proved to be disconnected in the exact affinity.

    Attributes
    ----------
    margins : ndarray of shape (n_clusters, n_clusters)
        By how much similarities between two clusters would have to grow, divided by eta2, before
        an entry of A could join them. It is what is left of the margin after all possible errors
        are subtracted; at most zero if nothing is proved. A large margin is given as a smaller
        one that is proved: as 0.05 from 2,000 points on. Infinite on the diagonal, and between
        clusters of a graph without an edge from one to the other.
    mass : ndarray of shape (n_clusters, n_clusters)
        Sum of the affinity between points of two clusters. A row sums to the size of its cluster.
    eta2 : float
        The eta2 for which this holds.
    affinity : csr_array of shape (n_points, n_points)
        The affinity that was judged.
    labels : ndarray of shape (n_points,)
        Clusters of the points.
    samples : ndarray of shape (n_points,)
        The sample that each point is; the first one, if there are copies.
    """

    margins: Array
    mass: Array
    eta2: float
    affinity: sparse.csr_array
    labels: Array
    samples: Array

    @property
    def proved(self) -> Array:
        """Which pairs of clusters are proved to be separate, shape (n_clusters, n_clusters)."""
        return np.greater(self.margins, 0.0)

    @property
    def isolated(self) -> Array:
        """Which clusters are proved to be separate from all others, shape (n_clusters,)."""
        return np.all(self.proved, axis=1)

    @property
    def n_pairs(self) -> int:
        """Number of pairs of clusters."""
        k = len(self.mass)
        return k * (k - 1) // 2

    @property
    def n_proved(self) -> int:
        """Number of pairs of clusters that are proved to be separate."""
        return int(np.count_nonzero(np.triu(self.proved, 1)))

    def touching(self) -> list[tuple[int, int]]:
        """Return the pairs of clusters with affinity between them, the most connected first.

        Mass is compared with the size of the smaller cluster.
        """
        sizes = np.bincount(self.labels, minlength=len(self.mass))
        share = np.triu(self.mass / np.minimum(sizes, sizes[:, None]), 1)
        first, second = np.nonzero(share)
        order = np.argsort(-share[first, second], kind="stable")
        return [(int(first[i]), int(second[i])) for i in order]

    def pairs(self, first: int, second: int, count: int | None = None) -> list[TouchingPair]:
        """Return the pairs of samples that join two clusters, the strongest first.

        Parameters
        ----------
        first, second : int
            Clusters.
        count : int, optional
            Most pairs; all when not given.
        """
        k = len(self.mass)
        for cluster in (first, second):
            if not 0 <= cluster < k:
                raise ValueError(f"cluster {cluster} must be a number from 0 to {k - 1}")
        rows, columns = (np.flatnonzero(self.labels == one) for one in (first, second))
        block = sparse.coo_array(self.affinity[rows][:, columns])
        order = np.argsort(-block.data, kind="stable")[:count]
        return [
            TouchingPair(
                int(self.samples[rows[block.row[i]]]),
                int(self.samples[columns[block.col[i]]]),
                float(block.data[i]),
            )
            for i in order
        ]

    def __str__(self) -> str:
        """Return in words how many pairs are proved to be separate."""
        k = len(self.mass)
        if k == 1:
            return "there is one cluster, and nothing to separate"
        alone = int(np.count_nonzero(self.isolated))
        return (
            f"{self.n_proved} of {self.n_pairs} pairs of clusters are proved separate at "
            f"eta2={self.eta2:.3g}; {alone} of {k} clusters are separate from all others"
        )


def prove_separation(
    near: NearPairs,
    eta2: float,
    potentials: Array,
    labels: Array,
    n_clusters: int,
    samples: Array,
) -> Separation:
    """Project a symmetric K accurately, and judge what joins the clusters.

    Parameters
    ----------
    near : NearPairs
        The near pairs of the similarities K.
    eta2 : float
        Regularisation.
    potentials : ndarray of shape (n_points,)
        Potentials of the fit, to start from.
    labels : ndarray of shape (n_points,)
        Clusters of the points.
    n_clusters : int
        Number of clusters.
    samples : ndarray of shape (n_points,)
        The sample that each point is.
    """
    projection = accurate_projection(near, eta2, potentials)
    members = _members(labels, n_clusters)
    return Separation(
        margins=proved_margins(near, projection, labels, n_clusters),
        mass=(members.T @ projection.plan @ members).toarray(),
        eta2=eta2,
        affinity=projection.plan,
        labels=labels,
        samples=samples,
    )


def proved_margins(
    near: NearPairs, projection: AccurateProjection, labels: Array, n_clusters: int
) -> Array:
    """Return the margins between clusters, with all errors subtracted."""
    slacks = largest_slacks(near, projection.safe_potentials(), labels, n_clusters)
    margins = -(slacks + projection.rounding) / projection.eta2
    # A point without a bound leaves its cluster unproved.
    unknown = np.unique(labels[~projection.is_known])
    margins[unknown] = margins[:, unknown] = -np.inf
    np.fill_diagonal(margins, np.inf)
    return margins


def _members(labels: Array, n_clusters: int) -> sparse.csr_array:
    """Return the indicator matrix of clusters."""
    n = len(labels)
    return sparse.csr_array((np.ones(n), (np.arange(n), labels)), shape=(n, n_clusters))
