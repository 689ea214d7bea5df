"""The points that are clustered to choose parameters, and the graph that suits them."""

from typing import Any, NamedTuple, Self

import numpy as np

from dssc._typing import Array
from dssc._warnings import warn_user
from dssc.engines import Engine
from dssc.pipeline import Settings
from dssc.selection.choice import Candidate, Choice
from dssc.selection.trials import Trial, Trials
from dssc.spectral.number import ClusterCount

# Neighbours of a point per dimension of the data.
NEIGHBORS_PER_DIMENSION = 1.5
# Fewest neighbours of a point, and most.
FEWEST_NEIGHBORS, MOST_NEIGHBORS = 4, 40
# Points per cluster that a sample has at least.
SAMPLE_PER_CLUSTER = 40


class Drawn(NamedTuple):
    """The points that are clustered, of so many, with what all steps need."""

    X: Any
    weights: Array | None
    n_samples: int
    settings: Settings
    engine: Engine
    rng: np.random.RandomState

    @property
    def share(self) -> float:
        """Share of all points."""
        return float(self.X.shape[0] / self.n_samples)

    def n_neighbors(self, dimension: float, n_clusters: int | None) -> int:
        """Return a number of neighbours for data of some dimension."""
        n = self.X.shape[0]
        cluster_size = n if n_clusters is None else n // n_clusters
        count = min(round(NEIGHBORS_PER_DIMENSION * dimension), MOST_NEIGHBORS, cluster_size)
        return min(max(count, FEWEST_NEIGHBORS), n - 1)

    def is_density_given(self) -> bool:
        """Return whether neighbours or eta2 are given."""
        return self.settings.n_neighbors is not None or self.settings.eta2 is not None

    def choice(
        self,
        candidates: list[Candidate],
        explanation: str,
        count: ClusterCount | None,
        best: Trial,
        labels: Array,
    ) -> Choice:
        """Return a choice, with what is known of all points if all were drawn."""
        if self.X.shape[0] < self.n_samples:
            return Choice(candidates, explanation, count)
        for message in {str(entry.message): entry for entry in best.messages}.values():
            warn_user(str(message.message), message.category)
        return Choice(candidates, explanation, count, best.graph, best.embedding, labels)

    def at_most(self, n_points: int, n_clusters: int | None) -> Self:
        """Return `n_points` of the points, or more if there are many clusters."""
        n_drawn = max(n_points, SAMPLE_PER_CLUSTER * (n_clusters or 1))
        n, weights = self.X.shape[0], self.weights
        if n_drawn >= n:
            return self
        drawn = np.sort(np.random.default_rng(1).choice(n, n_drawn, replace=False))
        weights = None if weights is None else weights[drawn] / weights[drawn].mean()
        return self._replace(X=self.X[drawn], weights=weights)

    def graph(self, n_clusters: int, dimension: float, trials: Trials) -> Trial:
        """Return the graph with the given number of neighbours, or with one that suits the data."""
        if self.is_density_given():
            return trials.add(self.settings.n_neighbors, n_clusters)
        most = min(MOST_NEIGHBORS, self.X.shape[0] - 1)
        return trials.add_connected(self.n_neighbors(dimension, n_clusters), most, n_clusters)
