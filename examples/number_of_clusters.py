"""
Choosing the number of clusters
===============================

Nothing in the data says "seven clusters" with certainty. But a graph can be asked three questions:
after how many eigenvalues does its spectrum drop, which number keeps most of its affinity inside
clusters, and which clusters are found again in half of the points? This tutorial asks them where
the answer is clear, and where it is not.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from dssc import ADSSC, clustering_accuracy, make_union_of_subspaces
from dssc.plotting import plot_clusters, plot_exploration, plot_spectrum

# %%
# A clear case
# ------------
#
# Seven subspaces of dimension 3 in 20 dimensions, with noise. With ``n_clusters=None`` the
# number is estimated. ``cluster_evidence_`` is the drop after it, relative to the second largest
# one, or measures how random walks support it; from 1.5 on we call it clear.

X, y = make_union_of_subspaces(420, n_subspaces=7, noise=0.2, random_state=0)
model = ADSSC(n_clusters=None, random_state=0).fit(X)
print(f"{model.n_clusters_} clusters, evidence {model.cluster_evidence_:.1f}")
print(f"accuracy {clustering_accuracy(y, model.labels_):.3f}")

figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
plot_spectrum(model, ax=ax)

# %%
# Seven eigenvalues are near one and the eighth is far below. If you see this, take the number
# and go on.
#
# A usual case
# ------------
#
# Most real data look different. Handwritten digits have ten classes, but some are written in two
# ways and others look alike. There is no single drop, and the estimate comes with a warning that
# says so.

images, y = load_digits(return_X_y=True)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    model = ADSSC(n_clusters=None, random_state=0).fit(images)
print(f"{model.n_clusters_} clusters, evidence {model.cluster_evidence_:.2f}")
for warning in caught:
    print(f"{warning.category.__name__}: {warning.message}")

figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
plot_spectrum(model, ax=ax)

# %%
# One fit, many numbers
# ---------------------
#
# The affinity does not depend on the number of clusters much, so we can cluster it into any
# number without fitting again. ``explore`` does this for a range. High modularity means that
# more affinity is inside clusters than chance would put there; the gap is how far the spectrum
# drops after each number. This graph has five connected components, so we begin with five: fewer
# clusters would have to join groups that nothing connects, and there would be a warning.

found = model.explore(range(5, 19))
plot_exploration(found)
best = found.counts[np.argmax(found.modularity)]
print(f"highest modularity with {best} clusters: {found.modularity.max():.3f}")
near = found.counts[found.modularity > found.modularity.max() - 0.01]
print(f"within 0.01 of it: {', '.join(map(str, near))}")

# %%
# Several numbers are nearly as good, and all are above ten: people write some digits in more
# than one way, and a graph sees ways of writing, not classes.
#
# Layers
# ------
#
# If the number is a matter of taste, use layers. With ``nested=True`` every cluster is a union
# of clusters of the next layer, so you can begin with a few and split where you like.

layers = model.explore(range(5, 13), nested=True)
for count in (5, 8, 12):
    labels = layers.labels[list(layers.counts).index(count)]
    digits = [
        "".join(str(d) for d in range(10) if np.mean(labels[y == d] == cluster) > 0.5)
        for cluster in range(count)
    ]
    print(f"{count:2} clusters: {' | '.join(group or '-' for group in digits)}")

# %%
# Each group lists the digits that have most of their images in one cluster; "-" marks a cluster
# that is only a part of a digit. Let us look at the members for twelve clusters: which digits
# come in two ways?

figure, ax = plt.subplots(figsize=(7, 5), layout="constrained")
labels = model.labels_for(12)
plot_clusters(images.reshape(-1, 8, 8), labels, model.embedding_, ax=ax, title="twelve clusters")

# %%
# Are they real?
# --------------
#
# Decide for a number, fit with it, and ask what each cluster is worth. Clusters with a high
# stability are found again in random halves of the points.

model = ADSSC(n_clusters=10, random_state=0).fit(images)
print(model.summary())

# %%
# :doc:`/choosing_k` explains how the estimate is made and how often it was right, and
# :doc:`/certainty` what the verdict means.
