"""Choosing parameters where clusters are known to be affine subspaces.

Tracked points of a moving object, or patches of a smooth surface, are close to their neighbours at
any eta1, so that neighbourhoods say nothing about it. But the clusters are known to be flat and of
low dimension, and this can be checked: held-out points must lie in the subspace of their cluster.
So graphs with small values of eta1 are clustered, and the clustering with the smallest residuals
in a few low dimensions is taken.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from dssc._progress import Progress
from dssc._typing import Array
from dssc.engines import Engine
from dssc.pipeline import Settings, assign, embed_variously
from dssc.selection.criteria import held_out_residual
from dssc.selection.trials import Trial, Trials

# Values of eta1 that are tried, for 1,000 points: noise is small where affine subspaces matter.
ETA1_VALUES = (1e-4, 1e-2, 1.0)
# Neighbours per point that are tried.
N_NEIGHBORS = (12, 24, 48)
# Dimensions of subspaces that clusters are compared with, constant coordinate included.
DIMENSIONS = (3, 4, 5)
# A residual below this is zero.
NEGLIGIBLE = 1e-12


class FlatTrials:
    """Graphs with several eta1 and numbers of neighbours, and the flattest clusters of each."""

    def __init__(
        self,
        X: Any,
        settings: Settings,
        engine: Engine,
        rng: np.random.RandomState,
        weights: Array | None = None,
    ):
        self.weights = weights
        self.X, self.settings, self.engine, self.rng = X, settings, engine, rng
        self.progress = Progress()  # the time of all trials counts as choosing
        self.trials: list[tuple[float, Trial]] = []

    def add(self, eta1: float, counts: list[int | None], n_clusters: int | None) -> None:
        """Add graphs with one eta1."""
        settings = replace(self.settings, eta1=eta1)
        trials = Trials(self.X, settings, self.engine, self.rng, self.weights)
        self.trials += [(eta1, trials.add(count, n_clusters)) for count in counts]

    def cluster(self, n_clusters: int) -> list[tuple[float, Trial]]:
        """Cluster every graph; return them with their eta1, the flattest clusters first.

        Each is clustered in several embeddings. Where it has as many components as clusters, or
        nearly so, eigenvectors beyond these can divide a cluster.
        """
        arguments = n_clusters, self.settings, self.engine, self.rng, self.progress
        for _, trial in self.trials:
            with trial.recorded_warnings():
                embeddings = embed_variously(trial.graph, *arguments)
                labels = [assign(trial.graph, one, *arguments) for one in embeddings]
            trial.embedding = embeddings[0]
            residuals = [self._residual(one, n_clusters) for one in labels]
            trial.residual, trial.labels = min(residuals), [labels[np.argmin(residuals)]]
        return sorted(self.trials, key=lambda entry: entry[1].residual)

    def _residual(self, labels: Array, n_clusters: int) -> float:
        """Return the geometric mean of the residuals in all dimensions."""
        residuals = [held_out_residual(self.X, labels, n_clusters, d) for d in DIMENSIONS]
        return float(np.exp(np.mean(np.log(np.maximum(residuals, NEGLIGIBLE)))))
