"""Spectral clustering of one graph of nearest neighbours, normalised in two ways.

    DSSC_DATA=folder python benchmarks/graphs.py

Rows have unit norm. The graph connects each point with its 10 nearest ones. SpectralClustering of
scikit-learn normalises it by degrees, GraphClustering makes it doubly stochastic; the last column
is GraphClustering with the graph that it builds by itself. Everything else is at its default, the
number of clusters is given, and the numbers are the adjusted Rand index, as means over three seeds.
"""

import warnings

import numpy as np
from selection_data import FIELDS, load
from sklearn.cluster import SpectralClustering
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import kneighbors_graph

import dssc

NEIGHBORS, SEEDS = 10, range(3)
NAMES = (
    "worm_neurons", "pbmc68k", "segment", "vowel", "yale", "lymphoma", "isolet", "usps20", "orl",
    "umist", "coil40", "digits", "wine", "breast cancer",
)  # fmt: skip


def scores(X, y, seed):
    """Return the adjusted Rand index of each method."""
    k, graph = len(np.unique(y)), kneighbors_graph(X, NEIGHBORS)
    symmetric = (graph + graph.T) / 2
    labels = (
        SpectralClustering(k, affinity="precomputed", random_state=seed).fit_predict(symmetric),
        dssc.GraphClustering(k, random_state=seed).fit_predict(graph),
        dssc.GraphClustering(k, affinity="nearest_neighbors", random_state=seed).fit_predict(X),
    )
    return [adjusted_rand_score(y, one) for one in labels]


def main():
    """Print a table with a row for each data set."""
    warnings.simplefilter("ignore")  # of graphs in more pieces than clusters
    print("| data | field | SpectralClustering | GraphClustering | with its own graph |")
    print("|---|---|---|---|---|")
    rows = []
    for name in NAMES:
        X, y = load(name)
        X = dssc.unit_norm(np.asarray(X, dtype=float))
        rows.append(np.mean([scores(X, y, seed) for seed in SEEDS], axis=0))
        print(
            f"| {name} | {FIELDS[name]} | {' | '.join(f'{r:.3f}' for r in rows[-1])} |", flush=True
        )
    print(f"| mean | | {' | '.join(f'{r:.3f}' for r in np.mean(rows, axis=0))} |")


if __name__ == "__main__":
    main()
