"""The clusterings that one eta1 gives, and how good they are."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from dssc._devices import is_single
from dssc._progress import Progress
from dssc._typing import Array, Matrix
from dssc.engines import Engine, SelfExpression
from dssc.graph import count_components
from dssc.pipeline import Settings, affinity_graph, assign, embed, express
from dssc.selection.choice import Candidate
from dssc.selection.criteria import DIGITS, mean_agreement, ranked, subspace_residuals, voted
from dssc.spectral.modularity import modularity

# Starts of k-means that parameters are chosen by.
STARTS = 8
# Starts of k-means per graph for the clusterings of all points.
MORE_STARTS = 32
# Best clusterings that vote on the labels.
VOTERS = 8


class Trials:
    """Clusterings of the graphs of one self-expression.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
        The points, or a sample of them.
    n_clusters : int
        Number of clusters.
    settings : Settings
        The parameters of a run, with the eta1 for X.
    engine : Engine
        Where the steps run.
    eta1, growth : float
        The eta1 for all points, and the factor by which all points have more neighbours than X.
    """

    def __init__(
        self,
        X: Any,
        n_clusters: int,
        settings: Settings,
        engine: Engine,
        eta1: float,
        growth: float,
    ):
        self.X, self.n_clusters, self.engine = X, n_clusters, engine
        self.settings = replace(settings, n_init=1)
        self.eta1, self.growth = eta1, growth
        self.progress = Progress()  # the time of all trials counts as choosing
        self.expression: SelfExpression | None = None
        # One entry per candidate: mean modularity, labels from each start, graph, embedding.
        self.candidates: list[Candidate] = []
        self.modularities: list[float] = []
        self.labels: list[list[Array]] = []
        self.graphs: list[Any] = []
        self.embeddings: list[Array] = []

    def release(self) -> None:
        """Free what only the best eta1 needs; a self-expression is as large as X or larger."""
        self.expression = None
        self.graphs, self.embeddings, self.labels = [], [], []

    @property
    def score(self) -> tuple[bool, float]:
        """Whether a graph stays connected; how well starts agree, times the modularity."""
        is_connected = min(c.n_pieces for c in self.candidates) <= self.n_clusters
        pairs = zip(self.candidates, self.modularities, strict=True)
        clarity = [candidate.stability * value for candidate, value in pairs]
        return is_connected, round(float(np.mean(clarity)), DIGITS)

    def add(self, counts: tuple[int | None, ...]) -> None:
        """Try numbers of neighbours."""
        for count in counts:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the fit that follows warns where it matters
                affinity, labels = self._cluster(count)
            grown = count and round(count * self.growth)
            stability = mean_agreement(labels, self.n_clusters)
            self.candidates.append(
                Candidate(self.eta1, grown, stability, count_components(affinity))
            )
            self.labels.append(labels)
            values = [modularity(affinity, one_start) for one_start in labels]
            self.modularities.append(float(np.mean(values)))

    def _cluster(self, count: int | None) -> tuple[Matrix, list[Array]]:
        """Return the graph with a number of neighbours, and its labels from several starts."""
        settings = replace(self.settings, n_neighbors=count or 1)
        k, engine, rng = self.n_clusters, self.engine, check_random_state(0)
        if self.expression is None:
            self.expression = express(self.X, settings, engine, self.progress)
        graph = affinity_graph(self.expression, k, settings, self.progress)
        embedding = embed(graph, k, settings, engine, rng, self.progress)
        labels = [assign(graph, embedding, k, settings, engine, rng, self.progress)]
        dtype = np.float32 if is_single(self.X) else np.float64
        self.graphs.append(graph)
        self.embeddings.append(embedding.astype(dtype, copy=False))
        return graph.affinity, labels + self._from_starts(-1, range(1, STARTS))

    def add_starts(self) -> None:
        """Cluster every graph from more starts of k-means."""
        for i, labels in enumerate(self.labels):
            labels += self._from_starts(i, range(len(labels), MORE_STARTS))

    def _from_starts(self, number: int, seeds: range) -> list[Array]:
        """Return the labels that further starts give for one graph, if k-means assigns them."""
        if self.settings.assign_labels != "kmeans":
            return []
        graph, embedding, k = self.graphs[number], self.embeddings[number], self.n_clusters
        rngs = [check_random_state(seed) for seed in seeds]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [
                assign(graph, embedding, k, self.settings, self.engine, rng, self.progress)
                for rng in rngs
            ]

    def judged(self) -> tuple[list[Candidate], Array]:
        """Return the candidates, the best first, and the labels that the best ones agree on."""
        labels = [one_start for starts in self.labels for one_start in starts]
        owner = np.repeat(np.arange(len(self.labels)), [len(starts) for starts in self.labels])
        affinities = [graph.affinity for graph in self.graphs]
        mean_graph = sum(affinities[1:], affinities[0]) / len(affinities)
        modularities = [round(modularity(mean_graph, one_start), DIGITS) for one_start in labels]
        residuals = subspace_residuals(self.X, labels, self.n_clusters)
        torn = np.array([self.candidates[i].n_pieces > self.n_clusters for i in owner])
        order = ranked(modularities, residuals, torn)
        best: dict[int, Candidate] = {}
        for i in order:  # the best start of each candidate comes first
            judged = self.candidates[owner[i]]._replace(
                modularity=modularities[i], residual=residuals[i]
            )
            best.setdefault(owner[i], judged)
        voters = [labels[i] for i in order[:VOTERS] if torn[i] == torn[order[0]]]
        return list(best.values()), voted(voters, self.n_clusters)
