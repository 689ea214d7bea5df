"""
New points
==========

A clustering is often the beginning: tomorrow there are more images, and they should go to the
clusters of today. ``predict`` does this without a new fit, ``predict_proba`` says how sure it is,
and ``outlier_scores`` finds what belongs nowhere.
"""

import pickle
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from dssc import ADSSC, clustering_accuracy
from dssc.plotting import plot_embedding

# %%
# Fit on one half
# ---------------
#
# We cluster half of the digits that come with scikit-learn, and keep the other half as new
# points.

pixels, digits = load_digits(return_X_y=True)
X, X_new, y, y_new = train_test_split(pixels, digits, test_size=0.5, random_state=0)
model = ADSSC(n_clusters=10, random_state=0).fit(X)
print(f"{len(X)} fitted points: accuracy {clustering_accuracy(y, model.labels_):.3f}")

# %%
# Place the other half
# --------------------
#
# A new point is written as a combination of the fitted ones, gets the row of the affinity that
# it would have as one more sample, and goes to the cluster with the largest share of that row.

labels = model.predict(X_new)
print(f"{len(X_new)} new points:    accuracy {clustering_accuracy(y_new, labels):.3f}")

# %%
# How sure is a label?
# --------------------
#
# ``predict_proba`` returns these shares. Where they are divided, labels are often wrong. To
# count that, we name each cluster after its most frequent digit among the fitted points.

shares = model.predict_proba(X_new)
sure = shares.max(axis=1)
names = np.array([np.bincount(y[model.labels_ == cluster]).argmax() for cluster in range(10)])
right = names[labels] == y_new
edges = (0.0, 0.6, 0.9, 0.99, 1.01)
for low, high in pairwise(edges):
    inside = (sure >= low) & (sure < high)
    share = right[inside].mean()
    print(f"largest share {low:.2f} to {high:.2f}: {inside.sum():4} points, {share:.3f} right")

figure, axes = plt.subplots(2, 8, figsize=(9, 2.9), layout="constrained")
for ax, point in zip(axes.flat, np.argsort(sure)[:16], strict=True):
    first, second = np.argsort(shares[point])[::-1][:2]
    ax.imshow(X_new[point].reshape(8, 8), cmap="gray_r")
    ax.set_title(f"{names[first]} or {names[second]}", fontsize=8)
    ax.axis("off")
figure.suptitle("the least certain new digits", fontsize=10)

# %%
# What belongs nowhere?
# ---------------------
#
# Noise also gets a label, because some cluster always has the largest share. ``outlier_scores``
# compares a point with the fitted ones: about zero is typical, above three is unusual.

noise = np.random.default_rng(0).uniform(0, 16, (200, 64))
upside_down = X_new.reshape(-1, 8, 8)[:200, ::-1].reshape(-1, 64)
figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
bins = np.linspace(-3, 15, 60)
for name, points in {"digits": X_new, "upside down": upside_down, "noise": noise}.items():
    scores = model.outlier_scores(points)
    ax.hist(np.clip(scores, -3, 15), bins, density=True, alpha=0.6, label=name)
    print(f"{name:12} median score {np.median(scores):6.2f}, above 3: {np.mean(scores > 3):.0%}")
ax.set(xlabel="outlier score", yticks=[])
ax.legend()

# %%
# With ``contamination=0.02`` a fit sets a threshold itself: the two percent of its points with
# the highest scores get the label -1, and so do new points above the threshold.

strict = ADSSC(n_clusters=10, contamination=0.02, random_state=0).fit(X)
print(f"label -1: {np.mean(strict.predict(X_new) < 0):.1%} of the new digits")
print(f"          {np.mean(strict.predict(noise) < 0):.1%} of the noise")

# %%
# As features
# -----------
#
# ``transform`` returns the affinity of each point to each cluster, which is a soft assignment of
# ten numbers. So a model can be a step of a pipeline. Here we look at the new points in the
# plane.

figure, ax = plt.subplots(figsize=(5, 4.4), layout="constrained")
plot_embedding(model.transform(X_new), labels, ax=ax, title="affinity of new points to clusters")

# %%
# Keep the model
# --------------
#
# A fitted model is pickled like any scikit-learn estimator. It holds the points of the fit,
# which ``predict`` needs.

again = pickle.loads(pickle.dumps(model))
print(f"same labels: {np.array_equal(again.predict(X_new), labels)}")

# %%
# On 60,000 digits of MNIST, fitted, and 10,000 new ones, the accuracies are 0.9903 and 0.9895;
# see :doc:`/guide`. When the data drift, fit again: ``predict`` never changes the clusters.
