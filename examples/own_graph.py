"""
Your own graph
==============

Similarities that you already have, a graph of nearest neighbours, a kernel, links between pages,
are made doubly stochastic and clustered by :class:`dssc.GraphClustering`. Two half moons are no
subspaces, so this is a case for it. The last part shows how one fit serves several numbers of
clusters.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits, make_moons
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import kneighbors_graph

from dssc import GraphClustering, clustering_accuracy
from dssc.plotting import plot_exploration

# %%
# A graph and a kernel
# --------------------
#
# Two half moons with three outliers. A graph of neighbours is sparse: pairs without an edge stay
# unconnected. A kernel is an array with a number for each pair.

X, y = make_moons(400, noise=0.05, random_state=0)
X = np.vstack([X, [[-1.5, -1.0], [2.8, 1.2], [0.5, 1.8]]])  # three outliers
similarities = {"graph": kneighbors_graph(X, 10), "kernel": rbf_kernel(X, gamma=20.0)}

figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
for ax, (name, matrix) in zip(axes, similarities.items(), strict=True):
    model = GraphClustering(2, contamination=0.01, random_state=0).fit(matrix)
    inside = model.labels_[:400] >= 0
    accuracy = clustering_accuracy(y[inside], model.labels_[:400][inside])
    print(f"{name}: accuracy {accuracy:.3f}, {model.n_neighbors_:.1f} neighbours per point")
    print(f"  {model.projection_.status}")
    print(f"  without a cluster: {np.flatnonzero(model.labels_ < 0).tolist()}")
    ax.scatter(*X.T, c=model.labels_, s=8, cmap="viridis")
    ax.set(title=f"{name}: outliers are dark", xticks=[], yticks=[])

# %%
# What the projection changes
# ---------------------------
#
# In a graph of neighbours some points are popular: many others have them as neighbours, and
# outliers are nobody's. After the projection every row and column sums to one, so popularity is
# gone. The certificate says that no other doubly stochastic matrix on these edges is closer.

graph = similarities["graph"]
popularity = np.asarray(graph.sum(axis=0)).ravel()
plan = GraphClustering(2, random_state=0).fit(graph).affinity_matrix_
sums = np.asarray(plan.sum(axis=0)).ravel()
print(f"column sums before: {popularity.min():.0f} to {popularity.max():.0f}")
print(f"column sums after:  {sums.min():.6f} to {sums.max():.6f}")
print(f"edges per point:    {graph.nnz / len(X):.1f} before, {plan.nnz / len(X):.1f} after")

# %%
# Edges in the plane: line widths are entries of the matrix.

figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
for ax, (name, matrix) in zip(axes, {"graph": graph, "projected": plan}.items(), strict=True):
    edges = matrix.tocoo()
    scale = edges.data.max()
    for i, j, weight in zip(edges.row, edges.col, edges.data, strict=True):
        if i != j:
            ax.plot(*X[[i, j]].T, color="tab:blue", linewidth=weight / scale, alpha=0.5)
    ax.scatter(*X.T, s=2, color="black", zorder=2)
    ax.set(title=name, xticks=[], yticks=[])

# %%
# One fit, many numbers of clusters
# ---------------------------------
#
# With ``affinity="nearest_neighbors"`` the graph is made from features. ``explore`` clusters the
# same affinity into several numbers of clusters.

X, y = load_digits(return_X_y=True)
model = GraphClustering(10, affinity="nearest_neighbors", random_state=0).fit(X)
print(f"digits: accuracy {clustering_accuracy(y, model.labels_):.3f}")
found = model.explore(range(2, 17))
plot_exploration(found)
print(f"highest modularity with {found.counts[np.argmax(found.modularity)]} clusters")

# %%
# :doc:`/graphs` says what can be passed, what happens to the diagonal, and how much the
# projection helps on fourteen data sets.
