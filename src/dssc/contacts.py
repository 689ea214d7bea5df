"""Which clusters touch, how much, and through which points."""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from dssc._typing import Array
from dssc.verdict import TOUCHING_SHARE


class Contacts(NamedTuple):
    """The affinity between clusters.

    Attributes
    ----------
    shares : ndarray of shape (n_clusters, n_clusters)
        Affinity between two clusters, as a share of all affinity of the one that has less. Zero on
        the diagonal.
    n_joining : ndarray of shape (n_clusters, n_clusters)
        Points of the first cluster that have affinity to the second.
    to_clusters : csr_array of shape (n_points, n_clusters)
        Affinity of every point to every cluster.
    labels : ndarray of shape (n_points,)
        Clusters of the points.
    """

    shares: Array
    n_joining: Array
    to_clusters: sparse.csr_array
    labels: Array

    def touched(self, cluster: int) -> Array:
        """Return the clusters that a cluster touches, the most connected first."""
        shares = self.shares[cluster]
        order = np.argsort(-shares, kind="stable")
        return order[shares[order] >= TOUCHING_SHARE]

    def joining(self, first: int, second: int, count: int) -> Array:
        """Return the points of one cluster with most affinity to another, at most `count`."""
        members = np.flatnonzero(self.labels == first)
        affinity = self.to_clusters[members][:, [second]].toarray().ravel()
        order = np.argsort(-affinity, kind="stable")[:count]
        return members[order[affinity[order] > 0.0]]


def find_contacts(graph: sparse.csr_array, labels: Array, n_clusters: int) -> Contacts:
    """Return the contacts between clusters.

    Parameters
    ----------
    graph : csr_array of shape (n_points, n_points)
        Symmetric affinity, as `as_graph` returns it.
    labels : ndarray of shape (n_points,)
        Clusters of the points.
    n_clusters : int
        Number of clusters.
    """
    n = len(labels)
    places = np.arange(n), labels
    members = sparse.csr_array((np.ones(n), places), shape=(n, n_clusters))
    to_clusters = sparse.csr_array(graph @ members)
    mass = (members.T @ to_clusters).toarray()
    totals = mass.sum(axis=1)
    smaller = np.minimum(totals, totals[:, None])
    shares = np.divide(mass, smaller, out=np.zeros_like(mass), where=smaller > 0.0)
    np.fill_diagonal(shares, 0.0)
    n_joining = (members.T @ (to_clusters > 0.0)).toarray().astype(int)
    return Contacts(shares, n_joining, to_clusters, labels)
