"""
Your own graph
==============

Similarities that you already have, here a graph of nearest neighbours and a Gaussian kernel, are
made doubly stochastic and clustered. Two half moons are no subspaces, so this is a case for
:class:`dssc.GraphClustering`. The last row of figures shows how one fit serves several numbers of
clusters.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits, make_moons
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import kneighbors_graph

from dssc import GraphClustering, clustering_accuracy
from dssc.plotting import plot_exploration


def main():
    """Cluster a graph, a kernel and the neighbours of digits."""
    X, y = make_moons(400, noise=0.05, random_state=0)
    X = np.vstack([X, [[-1.5, -1.0], [2.8, 1.2], [0.5, 1.8]]])  # three outliers
    graph = kneighbors_graph(X, 10)
    kernel = rbf_kernel(X, gamma=20.0)

    _, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for ax, name, similarities in zip(axes, ("graph", "kernel"), (graph, kernel), strict=True):
        model = GraphClustering(2, contamination=0.01, random_state=0).fit(similarities)
        inside = model.labels_[:400] >= 0
        accuracy = clustering_accuracy(y[inside], model.labels_[:400][inside])
        print(f"{name}: accuracy {accuracy:.3f}, {model.n_neighbors_:.1f} neighbours per point")
        print(f"  {model.projection_.status}")
        print(f"  without a cluster: {np.flatnonzero(model.labels_ < 0).tolist()}")
        ax.scatter(*X.T, c=model.labels_, s=8, cmap="viridis")
        ax.set(title=f"{name}: outliers are dark", xticks=[], yticks=[])

    # One fit, many numbers of clusters.
    X, y = load_digits(return_X_y=True)
    model = GraphClustering(10, affinity="nearest_neighbors", random_state=0).fit(X)
    print(f"digits: accuracy {clustering_accuracy(y, model.labels_):.3f}")
    found = model.explore(range(2, 17))
    plot_exploration(found)
    best = found.counts[np.argmax(found.modularity)]
    print(f"  highest modularity with {best} clusters")
    plt.show()


if __name__ == "__main__":
    main()
