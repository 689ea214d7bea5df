"""The largest slacks ``K_ij - alpha_i - alpha_j`` between clusters."""

import numpy as np

from dssc._typing import Array
from dssc.stochastic.near_pairs import NearPairs


def largest_slacks(near: NearPairs, potentials: Array, labels: Array, n_clusters: int) -> Array:
    """Return bounds on the slacks between clusters, exact where a near pair has the largest.

    Parameters
    ----------
    near : NearPairs
        The near pairs of K.
    potentials : ndarray of shape (n,)
        The potentials alpha.
    labels : ndarray of shape (n,)
        Clusters; none of them is empty.
    n_clusters : int
        Number of clusters.

    Returns
    -------
    slacks : ndarray of shape (n_clusters, n_clusters)
        A bound on the slack of all pairs of points of each two clusters. The diagonal has no
        meaning.
    """
    rises = np.full(n_clusters, -np.inf)
    np.maximum.at(rises, labels, near.rises(potentials))
    slacks = rises[:, None] + rises
    first, second = labels[near.rows], labels[near.similarities.indices]
    across = np.flatnonzero(first != second)
    np.maximum.at(slacks, (first[across], second[across]), near.slacks(potentials)[across])
    return slacks
