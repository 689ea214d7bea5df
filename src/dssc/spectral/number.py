"""How many clusters an affinity has, from its spectrum, or by modularity if it shows no gap."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from dssc._typing import Array, Matrix
from dssc.graph import as_graph
from dssc.spectral.eigenvalues import leading_eigenvalues
from dssc.spectral.modularity import most_modular

# Largest number of clusters that is considered.
MAX_CLUSTERS = 120
# Largest number of clusters that is considered, as a multiple of the root of the number of points.
MAX_CLUSTERS_PER_ROOT = 2.5
# Added to distances of eigenvalues from one: differences far below it do not count.
FLOOR = 0.1
# The same for the step after the components of a graph, whose eigenvalues are exactly one.
FINE_FLOOR = 3e-4
# Distance from one of the first eigenvalue that splits a component, from which none is about to.
WHOLE = 0.02
# Size of the smallest component, as a share of the mean, from which components are alike.
EVEN_SHARE = 0.5
# Ratio of the largest step to the second largest below which the evidence is weak.
CLEAR = 1.5
# Size of a component, as a share of the mean, below which it is left out.
STRAY_SHARE = 0.1


class ClusterCount(NamedTuple):
    """An estimated number of clusters.

    Attributes
    ----------
    n_clusters : int
        The estimate.
    evidence : float
        The step in the spectrum after it, relative to the largest other step. Below 1.5 the
        evidence is weak, and the estimate is the number of the highest modularity.
    eigenvalues : ndarray
        The leading eigenvalues, in falling order.
    """

    n_clusters: int
    evidence: float
    eigenvalues: Array

    @property
    def is_clear(self) -> bool:
        """Whether no other number is nearly as good."""
        return self.evidence >= CLEAR


def estimate_n_clusters(affinity: ArrayLike | Matrix) -> ClusterCount:
    """Return the number of clusters after which the spectrum of an affinity drops most.

    The eigenvalues ``1 = l_1 >= l_2 >= ...`` are those of the affinity normalised by its degrees.
    If k clusters share no affinity, the first k eigenvalues are one, and the next is the lower the
    better the clusters are connected inside. So k is where
    ``(1 - l_(k+1) + f) / (1 - l_k + f)`` is largest. The floor f = 0.1 keeps differences among
    eigenvalues that are all close to one from counting. The number of connected components is the
    answer as well if the step after it is the largest with f = 0.0003, and leads below 0.98 or the
    components are of similar size: then none is about to fall apart, and none is a mere fragment.
    The evidence is clear if the step is 1.5 times any other.

    If there is no clear step, as on most real data, the answer is the number of clusters whose
    spectral clustering has the highest modularity, at least two and at least the number of
    components. It is often close, and too high if clusters are few and large.

    Parameters
    ----------
    affinity : array-like or sparse matrix of shape (n_samples, n_samples)
        Nonnegative affinity. Its symmetric part is used. Connected components of less than a tenth
        of the mean size are left out.

    Returns
    -------
    count : ClusterCount
        The number, how clear it is, and the eigenvalues.
    """
    graph = _without_strays(as_graph(affinity))
    n = graph.shape[0]
    n_values = min(n, int(min(MAX_CLUSTERS, max(3.0, MAX_CLUSTERS_PER_ROOT * np.sqrt(n)))) + 1)
    values = leading_eigenvalues(graph, n_values)
    if len(values) == 1:
        return ClusterCount(1, np.inf, values)
    pieces = np.bincount(connected_components(graph, directed=False)[1])
    n_pieces = len(pieces)
    steps, fine = _steps(values, FLOOR), _steps(values, FINE_FLOOR)
    best = int(np.argmax(steps)) + 1
    evidence = _evidence(steps, best)
    if evidence < CLEAR and _are_clusters(pieces, values) and _evidence(fine, n_pieces) >= CLEAR:
        best, evidence = n_pieces, _evidence(fine, n_pieces)
    elif evidence < CLEAR and len(steps) > 1:
        fewest, most = max(2, n_pieces), min(len(steps), n // 3)
        best = most_modular(graph, fewest, most) if most > fewest else fewest
        evidence = _evidence(steps, min(best, len(steps)))
    return ClusterCount(best, evidence, values)


def _are_clusters(pieces: Array, values: Array) -> bool:
    """Return whether components of some sizes may be all clusters: none small or about to split."""
    if not 1 < len(pieces) < len(values):
        return False
    return bool(1.0 - values[len(pieces)] >= WHOLE or pieces.min() >= EVEN_SHARE * pieces.mean())


def _steps(values: Array, floor: float) -> Array:
    """Return how far each eigenvalue is from one, relative to the one before it."""
    distances = np.maximum(1.0 - values, 0.0) + floor
    return distances[1:] / distances[:-1]


def _evidence(steps: Array, n_clusters: int) -> float:
    """Return the step after a number of clusters relative to the largest other one."""
    others = np.delete(steps, n_clusters - 1)
    return float(steps[n_clusters - 1] / others.max()) if len(others) else np.inf


def _without_strays(graph: sparse.csr_array) -> sparse.csr_array:
    """Return the graph without its small connected components."""
    n_pieces, membership = connected_components(graph, directed=False)
    sizes = np.bincount(membership)
    kept = np.flatnonzero((sizes >= STRAY_SHARE * len(membership) / n_pieces)[membership])
    return graph if len(kept) == graph.shape[0] else graph[kept][:, kept]
