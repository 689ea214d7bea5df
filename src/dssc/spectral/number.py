"""How many clusters an affinity has, by its spectrum and by random walks on it."""

from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from dssc._typing import Array, Matrix
from dssc.graph import as_graph
from dssc.spectral.eigenvalues import leading_eigenvalues
from dssc.spectral.eigenvectors import StartVectors
from dssc.spectral.scales import Support, supported_numbers

# Largest number of clusters that is considered.
MAX_CLUSTERS = 150
# Fewest points per cluster, on average.
FEWEST_POINTS = 3
# Added to distances of eigenvalues from one: differences far below it do not count.
FLOOR = 0.1
# The same for the step after the components of a graph, whose eigenvalues are exactly one.
FINE_FLOOR = 3e-4
# Distance from one of the first eigenvalue that splits a component, from which none is about to.
WHOLE = 0.02
# Size of the smallest component, as a share of the mean, from which components are alike.
EVEN_SHARE = 0.5
# Evidence below which it is weak: ratio of the largest step to the second largest.
CLEAR = 1.5
# Support that is as much evidence as a clear step.
CLEAR_SUPPORT = 2 / 3
# Agreement of clusterings from which components of a graph are its clusters.
AGREEING = 0.85
# Support of the number of components, as a share of the largest, from which it may be right.
HARDLY_LESS = 0.9
# Agreement of clusterings below which a spectrum without any step means a single cluster.
UNRELATED = 0.4
# Support, as a share of the largest, from which a number is plausible.
PLAUSIBLE = 0.3
# Size of a component, as a share of the mean, below which it is left out.
STRAY_SHARE = 0.1


class ClusterCount(NamedTuple):
    """An estimated number of clusters.

    Attributes
    ----------
    n_clusters : int
        The estimate.
    evidence : float
        How strong the evidence is: weak below 1.5. If there is a clear step in the spectrum, this
        is its size relative to the largest other step. Otherwise it is the support of the number,
        which is at most one, times 2.25.
    eigenvalues : ndarray
        The leading eigenvalues, in falling order.
    plausible : (int, int)
        The smallest and the largest number with at least 30 % of the support of the estimate.
    """

    n_clusters: int
    evidence: float
    eigenvalues: Array
    plausible: tuple[int, int]

    @property
    def is_clear(self) -> bool:
        """Whether no other number is nearly as good."""
        return self.evidence >= CLEAR


def estimate_n_clusters(affinity: ArrayLike | Matrix) -> ClusterCount:
    """Return the number of clusters of an affinity, and how strong the evidence is.

    First by the eigenvalues ``1 = l_1 >= l_2 >= ...`` of the affinity normalised by its degrees.
    If k clusters share no affinity, the first k eigenvalues are one, and the next is the lower the
    better the clusters are connected inside. So k is where
    ``(1 - l_(k+1) + f) / (1 - l_k + f)`` is largest. The floor f = 0.1 keeps differences among
    eigenvalues that are all close to one from counting. The number of connected components is the
    answer as well if the step after it is the largest with f = 0.0003, and leads below 0.98 or the
    components are of similar size: then none is about to fall apart, and none is a mere fragment.
    Clusterings into as many clusters must agree, too, and random walks, see below, support no
    other number more. The evidence is clear if the step is 1.5 times any other.

    If there is no clear step, as on most real data, random walks of 1 to 256 steps decide. For
    each length there is a number of clusters that keeps the largest share of walks inside clusters,
    beyond chance. This number falls as walks grow, but stays the same over a range of lengths if
    there are clusters that walks seldom leave. Its support is the share of lengths at which it is
    the best, each of them times the cube of the agreement (adjusted Rand index) of clusterings from
    different embeddings there. The answer is the number with the most support, and clear if this is
    two thirds. It is one only if the spectrum has no step after any number and clusterings agree on
    none, and this is never clear.

    Parameters
    ----------
    affinity : array-like or sparse matrix of shape (n_samples, n_samples)
        Nonnegative affinity. Its symmetric part is used. Connected components of less than a tenth
        of the mean size are left out.

    Returns
    -------
    count : ClusterCount
        The number, how clear it is, the eigenvalues, and which numbers are plausible.
    """
    return count_clusters(as_graph(affinity))


def count_clusters(whole: sparse.csr_array, start: StartVectors | None = None) -> ClusterCount:
    """Return what `estimate_n_clusters` does.

    If all components of the graph count, `start` takes vectors to compute eigenvectors from.
    """
    graph = _without_strays(whole)
    n = graph.shape[0]
    pieces = np.bincount(connected_components(graph, directed=False)[1])
    fewest, most = max(2, len(pieces)), min(MAX_CLUSTERS, n // FEWEST_POINTS)
    if n == 1 or most <= fewest:
        return _by_steps(pieces, leading_eigenvalues(graph, min(n, fewest + 1)))
    support = supported_numbers(graph, fewest, most, start=start if graph is whole else None)
    values = support.eigenvalues
    step, evidence = _largest_step(values)
    if evidence < CLEAR and _are_supported(support, len(pieces)):
        step, evidence = _step_after_pieces(pieces, values)
    if step > 1 and evidence >= CLEAR:
        return ClusterCount(step, evidence, values, (step, step))
    return _supported(support, is_whole=step == 1 and evidence >= CLEAR)


def _by_steps(pieces: Array, values: Array) -> ClusterCount:
    """Return the number of clusters of a graph that is too small for anything but its spectrum."""
    if len(values) == 1:
        return ClusterCount(1, np.inf, values, (1, 1))
    step, evidence = max(
        _largest_step(values), _step_after_pieces(pieces, values), key=itemgetter(1)
    )
    fallback = max(min(2, len(values)), len(pieces))
    best = step if evidence >= CLEAR else fallback
    evidence = evidence if best > 1 else 0.0
    return ClusterCount(best, evidence, values, (min(best, fallback), max(best, fallback)))


def _are_supported(support: Support, n_pieces: int) -> bool:
    """Return whether clusterings into the components agree, and walks prefer no other number."""
    agreement, share = support.agreement_at(n_pieces), support.share_of(n_pieces)
    return agreement >= AGREEING and share >= HARDLY_LESS * float(support.shares.max())


def _supported(support: Support, is_whole: bool) -> ClusterCount:
    """Return the number with the most support, or one if clusterings of a whole do not agree."""
    best = support.best
    share = float(support.shares[best])
    plausible = support.numbers[support.shares >= PLAUSIBLE * share]
    most = int(plausible.max())
    if is_whole and support.agreement.max() < UNRELATED:
        return ClusterCount(1, 0.0, support.eigenvalues, (1, most))
    n_clusters, range_ = int(support.numbers[best]), (int(plausible.min()), most)
    return ClusterCount(n_clusters, CLEAR / CLEAR_SUPPORT * share, support.eigenvalues, range_)


def _largest_step(values: Array) -> tuple[int, float]:
    """Return after how many eigenvalues the spectrum drops most, and how clearly."""
    steps = _steps(values, FLOOR)
    best = int(np.argmax(steps)) + 1
    return best, _evidence(steps, best)


def _step_after_pieces(pieces: Array, values: Array) -> tuple[int, float]:
    """Return the number of components, and how clearly the spectrum drops after it.

    The evidence is zero if some component is small or about to split.
    """
    if not _are_clusters(pieces, values):
        return len(pieces), 0.0
    return len(pieces), _evidence(_steps(values, FINE_FLOOR), len(pieces))


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
