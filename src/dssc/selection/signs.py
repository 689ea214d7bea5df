"""Whether clusters hold the opposite of each of their points, or are opposite to each other.

In both cases the nearest neighbour of a point is as often on the opposite side as on its own.
Subspaces hold x and -x. But of two clouds around a and -a, which is what many tables with two
classes look like once their mean is removed, one is the mirror image of the other. Neighbourhoods
cannot tell the two apart: without signs, the two clouds are one. Clusterings can. With signs, the
clouds have hardly any affinity to each other, while a subspace is divided, or loses neighbours.
"""

from dataclasses import replace

import numpy as np

from dssc.selection.drawn import Drawn
from dssc.selection.neighborhoods import ExpressionChoice
from dssc.selection.trials import Trial, Trials

# Points that are clustered, unless more are needed for every cluster.
SAMPLE_SIZE = 2000
# Starts of k-means in each embedding.
N_STARTS = 3
# Lead in modularity from which clusters are opposite to each other. It is negative or zero in
# unions of subspaces, and was 0.06 or more where clouds are opposite.
LEAD = 0.02


def are_clusters_opposite(sample: Drawn, how: ExpressionChoice, n_clusters: int | None) -> bool:
    """Return whether clusterings have a higher modularity if signs count.

    Both graphs have the same eta1, and are clustered into the same number of clusters: the given
    one or, if there is none, the smaller one of the two that are estimated.
    """
    some = sample.at_most(SAMPLE_SIZE, n_clusters)
    ways = [_trials(some, how.eta1, signed) for signed in (False, True)]
    if n_clusters is None:
        graphs = [some.graph(2, how.dimension, trials) for trials in ways]
        n_clusters = max(2, min(graph.count_clusters().n_clusters for graph in graphs))
    modularities = []
    for trials in ways:
        graph: Trial = some.graph(n_clusters, how.dimension, trials)
        trials.cluster(graph, n_clusters, N_STARTS)
        modularities.append(graph.modularities[0])
    return bool(modularities[1] > modularities[0] + LEAD)


def _trials(sample: Drawn, eta1: float, signed: bool) -> Trials:
    """Return the trials with or without signs, with randomness of their own."""
    settings = replace(sample.settings, eta1=eta1 * sample.share, signed=signed)
    rng = np.random.RandomState(0)
    return Trials(sample.X, settings, sample.engine, rng, sample.weights)
