"""How many clusters an affinity has, read off its spectrum."""

from typing import NamedTuple

import numpy as np
from scipy.sparse.csgraph import connected_components

from dssc.graph import as_graph, leading_eigenvalues

MOST = 120  # clusters looked for, and at most PER_ROOT times the root of the number of points
PER_ROOT = 2.5
# Distances from one are compared beyond this: closer to one than that, all eigenvalues say "apart".
FLOOR = 0.1
CLEAR = 1.5  # times the next best step: less is weak evidence
TIED = 1.1  # times the next best step: less is no evidence at all
STRAY_SHARE = 0.1  # of the mean size of a piece: smaller ones are no clusters


class ClusterCount(NamedTuple):
    """The number of clusters a spectrum speaks for.

    Attributes
    ----------
    n_clusters : int
        The estimate.
    evidence : float
        The step after it, relative to the next largest step elsewhere; below 1.5 it is weak.
    eigenvalues : ndarray
        The leading eigenvalues it was read from, in falling order.
    """

    n_clusters: int
    evidence: float
    eigenvalues: np.ndarray

    @property
    def is_clear(self) -> bool:
        """Whether no other number is nearly as good."""
        return self.evidence >= CLEAR


def estimate_n_clusters(affinity) -> ClusterCount:
    """Return the number of clusters after which the spectrum of an affinity steps down most.

    With eigenvalues ``1 = l_1 >= l_2 >= ...`` of the affinity normalised by its degrees, each of k
    clusters that share nothing gives one eigenvalue of one, and the next is as far below as the
    clusters are connected inside. So k is where ``(1 - l_(k+1) + f) / (1 - l_k + f)`` is largest;
    f = 0.1 keeps differences among eigenvalues that are all close to one from counting. Where two
    steps are nearly equal, the number of connected pieces is the answer if there is more than one;
    one cluster is answered only on clear evidence.

    Parameters
    ----------
    affinity : array-like or sparse matrix of shape (n_samples, n_samples)
        Nonnegative affinity; its symmetric part is taken. Pieces of less than a tenth of the mean
        size are left out.

    Returns
    -------
    count : ClusterCount
        The number, how clear it is, and the eigenvalues.
    """
    graph = _without_strays(as_graph(affinity))
    n = graph.shape[0]
    n_values = min(n, int(min(MOST, max(3.0, PER_ROOT * np.sqrt(n)))) + 1)
    values = leading_eigenvalues(graph, n_values)
    distances = np.maximum(1.0 - values, 0.0) + FLOOR
    steps = distances[1:] / distances[:-1]
    if not len(steps):
        return ClusterCount(1, np.inf, values)
    best = int(np.argmax(steps))
    n_pieces = connected_components(graph, directed=False)[0]
    evidence = _evidence(steps, best)
    if evidence < TIED and n_pieces > 1:
        best = min(n_pieces, len(steps)) - 1
    elif evidence < CLEAR and best == 0 and len(steps) > 1:
        best = 1 + int(np.argmax(steps[1:]))
    return ClusterCount(best + 1, _evidence(steps, best), values)


def _evidence(steps, best):
    """Return a step relative to the largest other one."""
    others = np.delete(steps, best)
    return float(steps[best] / others.max()) if len(others) else np.inf


def _without_strays(graph):
    n_found, membership = connected_components(graph, directed=False)
    sizes = np.bincount(membership)
    kept = np.flatnonzero((sizes >= STRAY_SHARE * len(membership) / n_found)[membership])
    return graph if len(kept) == graph.shape[0] else graph[kept][:, kept]
