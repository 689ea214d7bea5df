"""Which numbers of clusters a graph supports, over the time scales of a random walk on it.

Every clustering has a stability for walks of each length; see :class:`dssc.spectral.walks.Walks`.
Short walks favour many clusters, long ones few. As walks grow, the best number falls: steadily
where there is nothing to find, but it stays the same over a range of lengths where there are
clusters that walks seldom leave. And clusterings into the right number come out the same from every
embedding and start. So a number is supported by the share of lengths at which it is the best, each
of which counts by how far clusterings agree there.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import sparse

from dssc._typing import Array
from dssc.agreement import rand_index
from dssc.spectral.clusterings import SpectralClusterings
from dssc.spectral.eigenvectors import StartVectors
from dssc.spectral.walks import Walks

# Ratio of one number of clusters to the next.
RATIO = 1.1
# Numbers up to this multiple of the one with the highest modularity are tried, and up to MANY.
BEYOND, MANY = 1.3, 12
# Difference of logarithms at which numbers of clusters no longer support each other.
NEAR = 0.4
# Difference of logarithms over which agreement is averaged.
SMOOTHING = 0.1
# The agreement counts with this power.
POWER = 3
# Power of its length with which a walk counts less: long walks know less about many clusters.
DECLINE = 1 / 6


class Support(NamedTuple):
    """How well numbers of clusters are supported.

    Attributes
    ----------
    numbers : ndarray of int
        The numbers that are best for walks of some length, rising.
    shares : ndarray
        Their support, from zero to one, to which numbers nearby contribute.
    agreement : ndarray
        Mean adjusted Rand index between clusterings into about as many clusters.
    eigenvalues : ndarray
        The leading eigenvalues, in falling order.
    """

    numbers: Array
    shares: Array
    agreement: Array
    eigenvalues: Array

    @property
    def best(self) -> int:
        """Place of the number with the most support."""
        return int(self.shares.argmax())

    def agreement_at(self, n_clusters: int) -> float:
        """Return the agreement of clusterings into a number of clusters, if it is ever best."""
        return float(self.agreement[self.numbers == n_clusters].sum())

    def share_of(self, n_clusters: int) -> float:
        """Return the support of a number of clusters, if it is ever best."""
        return float(self.shares[self.numbers == n_clusters].sum())


def supported_numbers(
    graph: sparse.csr_array,
    fewest: int,
    most: int,
    seed: int = 0,
    start: StartVectors | None = None,
) -> Support:
    """Return how well a graph supports numbers of clusters.

    Parameters
    ----------
    graph : csr_array of shape (n, n)
        Symmetric, nonnegative, with positive degrees and at most `fewest` connected components.
    fewest, most : int
        Smallest and largest number to consider.
    seed : int
        Randomness of k-means and of the eigensolver's start.
    start : StartVectors, optional
        Takes vectors with which other eigenvectors of the graph can be computed quickly.
    """
    trials = _Trials(SpectralClusterings(graph, fewest, most, seed, start))
    for k in _grid(fewest, most):
        trials.add(k)
        if k >= max(MANY, BEYOND * trials.most_modular()):
            break
    support = trials.support()
    while between := trials.untried_beside(int(support.numbers[support.best])):
        for k in between:
            trials.add(k)
        support = trials.support()
    return support


class _Trial(NamedTuple):
    """The best stability for walks of each length, and the agreement of clusterings."""

    stability: Array
    agreement: float


class _Trials:
    """Clusterings into several numbers of clusters."""

    def __init__(self, clusterings: SpectralClusterings):
        self.clusterings = clusterings
        self.walks = self._walks()
        self.trials: dict[int, _Trial] = {}

    def _walks(self) -> Walks:
        one = self.clusterings
        return Walks(one.graph, one.vectors, one.eigenvalues)

    def add(self, n_clusters: int) -> None:
        """Try a number of clusters."""
        if self.clusterings.serve(n_clusters):
            self.walks = self._walks()
        labels = self.clusterings.labels(n_clusters)
        stability = np.max([self.walks.stability(one) for one in labels], axis=0)
        self.trials[n_clusters] = _Trial(stability, _agreement(labels, n_clusters))

    def most_modular(self) -> int:
        """Return the number of clusters of the highest modularity."""
        return max(self.trials, key=lambda k: self.trials[k].stability[0])

    def untried_beside(self, n_clusters: int) -> list[int]:
        """Return the numbers half-way to the next ones that were tried, if there are any."""
        tried = sorted(self.trials)
        at = tried.index(n_clusters)
        near = tried[max(0, at - 1) : at + 2]
        return [(a + b) // 2 for a, b in pairwise(near) if b - a > 1]

    def support(self) -> Support:
        """Return the support of the numbers that are the best for walks of some length."""
        numbers = np.array(sorted(self.trials))
        trials = [self.trials[k] for k in numbers.tolist()]
        best = np.argmax([trial.stability for trial in trials], axis=0)
        logs = np.log(numbers)
        kernel = np.exp(-0.5 * np.square((logs[:, None] - logs) / SMOOTHING))
        agreement = kernel @ [trial.agreement for trial in trials] / kernel.sum(axis=1)
        agreement = np.maximum(agreement, 0.0)
        values = np.clip(np.sort(self.clusterings.eigenvalues)[::-1], -1.0, 1.0)
        lengths = self.walks.lengths
        weights = np.where(lengths <= max(1.0, _slowest(values)), lengths**-DECLINE, 0.0)
        weights /= weights.sum()
        places = np.unique(best[weights > 0])
        nearness = np.maximum(0.0, 1.0 - np.abs(logs[places, None] - logs[best]) / NEAR)
        shares = nearness @ (weights * agreement[best] ** POWER)
        return Support(numbers[places], shares, agreement[places], values)


def _grid(fewest: int, most: int) -> list[int]:
    """Return all small numbers, then some."""
    numbers = [fewest]
    while numbers[-1] < most:
        numbers.append(min(most, max(numbers[-1] + 1, round(RATIO * numbers[-1]))))
    return numbers


def _agreement(labels: list[Array], n_clusters: int) -> float:
    """Return the mean adjusted Rand index of each clustering and the next."""
    pairs = zip(labels, [*labels[1:], labels[0]], strict=True)
    return float(np.mean([rand_index(one, two, n_clusters) for one, two in pairs]))


def _slowest(eigenvalues: Array) -> float:
    """Return the length of walks after which nothing but the components can be told apart."""
    distance = max(0.0, 1.0 - float(eigenvalues[1])) if len(eigenvalues) > 1 else 1.0
    return 1.0 / distance if distance > 0 else np.inf
