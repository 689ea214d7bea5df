"""Graphs of one self-expression, and clusterings of one of them."""

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dssc._progress import Progress
from dssc._typing import Array
from dssc.engines import AffinityGraph, Engine, SelfExpression
from dssc.graph import as_graph, component_sizes
from dssc.pipeline import Settings, affinity_graph, clusterings, embed_variously, express
from dssc.spectral import StartVectors
from dssc.spectral.modularity import modularity
from dssc.spectral.number import ClusterCount, count_clusters

# Decimals of a modularity; beyond them, rounding would decide.
DIGITS = 6
# Share of points in stray components up to which a graph is dense enough.
MOST_STRAYS = 0.005
# Points per cluster up to which only as many eigenvectors as clusters are used.
FEW_POINTS = 12
# Size of the smallest component, as a share of the mean, from which components are alike.
EVEN_SHARE = 0.5
# Factor between the numbers of neighbours that are tried one after the other.
GROWTH = 2**0.5


@dataclass(eq=False)
class Trial:
    """One graph, its eigenvectors and its clusterings from several starts of k-means.

    `pieces` are the sizes of its connected components. `labels` are clusterings, and
    `modularities` theirs, the highest first. `messages` are warnings for the user of this graph.
    `residual` is set where clusters are compared with subspaces.
    """

    n_neighbors: int | None
    graph: AffinityGraph
    pieces: Array
    embedding: Array | None = None
    labels: list[Array] = field(default_factory=list)
    modularities: Array = field(default_factory=lambda: np.empty(0))
    residual: float = np.inf
    messages: list[warnings.WarningMessage] = field(default_factory=list)

    @property
    def best_modularity(self) -> float | None:
        """The highest modularity of a clustering."""
        return float(self.modularities[0]) if len(self.modularities) else None

    @property
    def stray_share(self) -> float:
        """The share of points in components with at most half as many other points as neighbours.

        They are not clusters, but points that a graph with more neighbours would connect.
        """
        strays = self.pieces[2 * (self.pieces - 1) <= (self.n_neighbors or 0)]
        return float(strays.sum() / self.pieces.sum())

    @property
    def is_torn(self) -> bool:
        """Whether there are components, and some of them are much smaller than others."""
        return bool(self.pieces.min() < EVEN_SHARE * self.pieces.mean())

    def count_clusters(self) -> ClusterCount:
        """Return the number of clusters, and keep vectors that the eigenvectors start from."""
        start = StartVectors()
        count = count_clusters(as_graph(self.graph.affinity), start)
        self.graph = replace(self.graph, start=start)
        return count

    @contextmanager
    def recorded_warnings(self) -> Iterator[None]:
        """Keep warnings back; those of the graph that is chosen are issued later."""
        with warnings.catch_warnings(record=True) as messages:
            warnings.simplefilter("always")
            yield
        self.messages += messages


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
        """Return the graph with a number of neighbours, which may have been made before."""
        if n_neighbors is not None and self.settings.eta2 is None:
            for trial in self.trials:
                if trial.n_neighbors == n_neighbors:
                    return trial
        settings = replace(self.settings, n_neighbors=n_neighbors)
        near = self.trials[-1].graph.projection if self.trials else None
        with warnings.catch_warnings(record=True) as messages:
            warnings.simplefilter("always")
            graph = affinity_graph(self.expression, n_clusters, settings, self.progress, near)
        pieces = component_sizes(as_graph(graph.affinity))
        trial = Trial(n_neighbors, graph, pieces, messages=messages)
        self.trials.append(trial)
        return trial

    def add_connected(self, n_neighbors: int, most: int, n_clusters: int | None) -> Trial:
        """Return the graph with a number of neighbours or, if it leaves out points, with more.

        Of graphs with up to `most` neighbours, it is the sparsest one with no more components than
        clusters and few stray points, or the one with the fewest.
        """

        def excess(trial: Trial) -> tuple[bool, float]:
            is_torn = n_clusters is not None and len(trial.pieces) > n_clusters
            return is_torn, trial.stray_share

        tried = [self.add(n_neighbors, n_clusters)]
        while excess(tried[-1]) > (False, MOST_STRAYS) and n_neighbors < most:
            n_neighbors = min(most, math.ceil(GROWTH * n_neighbors))
            tried.append(self.add(n_neighbors, n_clusters))
        return min(tried, key=excess)

    def cluster(self, trial: Trial, n_clusters: int, n_starts: int) -> None:
        """Cluster a graph in each of its embeddings, from several starts of k-means each.

        Some data need eigenvectors beyond as many as there are clusters, others are disturbed by
        them, and nothing tells beforehand. But they divide clusters, and clusters of a dozen points
        have no parts.
        """
        settings = replace(self.settings, n_init=n_starts)
        arguments = n_clusters, settings, self.engine, self.rng, self.progress
        with trial.recorded_warnings():
            embeddings = embed_variously(trial.graph, *arguments)
            trial.embedding = embeddings[0]
            if len(embeddings) > 1 and self.X.shape[0] <= FEW_POINTS * n_clusters:
                embeddings = embeddings[1:2]
            labels = [
                one
                for embedding in embeddings
                for one in clusterings(trial.graph, embedding, *arguments)
            ]
        graph = as_graph(trial.graph.affinity)
        modularities = np.round([modularity(graph, one) for one in labels], DIGITS)
        order = np.argsort(-modularities, kind="stable")
        trial.labels, trial.modularities = [labels[i] for i in order], modularities[order]
