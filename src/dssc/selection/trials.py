"""Graphs with several numbers of neighbours, and their clusterings."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from dssc._progress import Progress
from dssc._typing import Array
from dssc.engines import AffinityGraph, Engine, SelfExpression
from dssc.graph import count_components
from dssc.pipeline import Settings, affinity_graph, assign, embed, express
from dssc.spectral.modularity import modularity, normalised_cut

# Decimals of a modularity or cut; beyond them, rounding would decide.
DIGITS = 6


@dataclass(eq=False)
class Trial:
    """One graph, its eigenvectors and its clusterings from several starts of k-means.

    `modularities` and `cuts` (normalised) are those of the clusterings in the mean of all graphs,
    and `messages` are warnings for the user of this graph. `residual` is set where clusters are
    compared with subspaces.
    """

    n_neighbors: int | None
    graph: AffinityGraph
    n_pieces: int
    embedding: Array | None = None
    labels: list[Array] = field(default_factory=list)
    modularities: Array = field(default_factory=lambda: np.empty(0))
    cuts: Array = field(default_factory=lambda: np.empty(0))
    residual: float = np.inf
    messages: list[warnings.WarningMessage] = field(default_factory=list)

    @property
    def best_modularity(self) -> float | None:
        """The highest modularity of a clustering."""
        return float(self.modularities.max()) if len(self.modularities) else None

    @contextmanager
    def recorded_warnings(self) -> Iterator[None]:
        """Keep warnings back; those of the graph that is chosen are issued later."""
        with warnings.catch_warnings(record=True) as messages:
            warnings.simplefilter("always")
            yield
        self.messages += messages


class RankedClustering(NamedTuple):
    """A clustering and the graph it comes from."""

    trial: Trial
    labels: Array


class Trials:
    """Graphs of one self-expression.

    Parameters
    ----------
    X : ndarray, csr_array or tensor of shape (n_samples, n_features)
        The points, or a sample of them.
    settings : Settings
        The parameters of a run, with the eta1 for X.
    engine : Engine
        Where the steps run.
    rng : RandomState
        Randomness of k-means and of the eigensolver's start.
    weights : ndarray of shape (n_samples,), optional
        Weights of the points, with a mean of one.
    """

    def __init__(
        self,
        X: Any,
        settings: Settings,
        engine: Engine,
        rng: np.random.RandomState,
        weights: Array | None = None,
    ):
        self.X, self.settings, self.engine, self.rng = X, settings, engine, rng
        self.progress = Progress()  # the time of all trials counts as choosing
        self.expression: SelfExpression = express(X, settings, engine, self.progress, weights)
        self.trials: list[Trial] = []

    def add(self, n_neighbors: int | None, n_clusters: int | None) -> Trial:
        """Return the graph with a number of neighbours."""
        settings = replace(self.settings, n_neighbors=n_neighbors)
        with warnings.catch_warnings(record=True) as messages:
            warnings.simplefilter("always")
            graph = affinity_graph(self.expression, n_clusters, settings, self.progress)
        trial = Trial(n_neighbors, graph, count_components(graph.affinity), messages=messages)
        self.trials.append(trial)
        return trial

    def cluster(self, n_clusters: int, n_starts: int) -> None:
        """Cluster every graph from several starts, and compare what was found.

        Half of the starts take the leading eigenvectors only, without those that fade: some data
        need the later ones, others are disturbed by them, and nothing tells beforehand.
        """
        once = replace(self.settings, n_init=1)
        common = sparse.csr_array(sum(trial.graph.affinity for trial in self.trials))
        for trial in self.trials:
            with trial.recorded_warnings():
                trial.embedding = embed(
                    trial.graph, n_clusters, once, self.engine, self.rng, self.progress
                )
                embeddings = [trial.embedding]
                if once.has_fading_components:
                    embeddings.append(np.ascontiguousarray(trial.embedding[:, :n_clusters]))
                arguments = n_clusters, once, self.engine, self.rng, self.progress
                trial.labels = [
                    assign(trial.graph, embeddings[start % len(embeddings)], *arguments)
                    for start in range(n_starts)
                ]
            modularities = [modularity(common, labels) for labels in trial.labels]
            cuts = [normalised_cut(common, labels) for labels in trial.labels]
            trial.modularities, trial.cuts = np.round([modularities, cuts], DIGITS)

    def ranked_clusterings(self, n_clusters: int) -> list[RankedClustering]:
        """Return all clusterings, the best first.

        The rank of a clustering is its rank in modularity plus that in normalised cut; of equal
        sums, the higher modularity is better. Modularity looks at large clusters most, the cut at
        all clusters the same. Those of a graph with more components than clusters come last.
        """
        entries = [(trial, labels) for trial in self.trials for labels in trial.labels]
        modularities = np.concatenate([trial.modularities for trial in self.trials])
        cuts = np.concatenate([trial.cuts for trial in self.trials])
        torn = np.array([trial.n_pieces > n_clusters for trial, _ in entries])
        ranks = [np.searchsorted(np.sort(v), v) for v in (-modularities, cuts)]
        order = np.lexsort((-modularities, ranks[0] + ranks[1], torn))
        return [RankedClustering(*entries[i]) for i in order]
