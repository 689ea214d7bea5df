"""How many clusters an affinity has, read off its spectrum, or by modularity where that is mute."""

from typing import NamedTuple

import numpy as np
from scipy.sparse.csgraph import connected_components

from dssc.graph import as_graph, leading_eigenvalues
from dssc.spectral.modularity import most_modular

MOST = 120  # clusters looked for, and at most PER_ROOT times the root of the number of points
PER_ROOT = 2.5
# Distances from one are compared beyond this: closer to one than that, all eigenvalues say "apart".
FLOOR = 0.1
FINE_FLOOR = 3e-4  # the same after the pieces of a graph, whose eigenvalues are one exactly
CLEAR = 1.5  # times the next best step: less is weak evidence
STRAY_SHARE = 0.1  # of the mean size of a piece: smaller ones are no clusters


class ClusterCount(NamedTuple):
    """The number of clusters a spectrum speaks for.

    Attributes
    ----------
    n_clusters : int
        The estimate.
    evidence : float
        The step after it, relative to the largest step elsewhere; below 1.5 it is weak, and the
        estimate is that of the highest modularity.
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
    f = 0.1 keeps differences among eigenvalues that are all close to one from counting. Of a graph
    in several pieces, their number is the answer as well if the step after them is the largest
    with f = 0.0003: then no piece is about to fall apart. Evidence is clear where the step is 1.5
    times any other.

    Where it is not, as on most real data, the answer is the number from two on, and not below the
    number of pieces, whose spectral clustering has the highest modularity. It is often close, and
    too high where clusters are few and large.

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
    if len(values) == 1:
        return ClusterCount(1, np.inf, values)
    n_pieces = int(connected_components(graph, directed=False)[0])
    steps, fine = _steps(values, FLOOR), _steps(values, FINE_FLOOR)
    best = int(np.argmax(steps)) + 1
    evidence = _evidence(steps, best)
    if evidence < CLEAR and 1 < n_pieces < len(values) and _evidence(fine, n_pieces) >= CLEAR:
        best, evidence = n_pieces, _evidence(fine, n_pieces)
    elif evidence < CLEAR and len(steps) > 1:
        fewest, most = max(2, n_pieces), min(len(steps), n // 3)
        best = most_modular(graph, fewest, most) if most > fewest else fewest
        evidence = _evidence(steps, min(best, len(steps)))
    return ClusterCount(best, evidence, values)


def _steps(values, floor):
    """Return how far each eigenvalue is from one, relative to the one before it."""
    distances = np.maximum(1.0 - values, 0.0) + floor
    return distances[1:] / distances[:-1]


def _evidence(steps, n_clusters):
    """Return the step after a number of clusters relative to the largest other one."""
    others = np.delete(steps, n_clusters - 1)
    return float(steps[n_clusters - 1] / others.max()) if len(others) else np.inf


def _without_strays(graph):
    n_found, membership = connected_components(graph, directed=False)
    sizes = np.bincount(membership)
    kept = np.flatnonzero((sizes >= STRAY_SHARE * len(membership) / n_found)[membership])
    return graph if len(kept) == graph.shape[0] else graph[kept][:, kept]
