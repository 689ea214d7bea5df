"""
Handwritten digits
==================

From images to clusters, and how to see whether the clusters are good. We compute the scattering
features of the paper for the digits that come with scikit-learn. Some digits are written in more
than one way. So there are more groups than classes, and ten eigenvectors are too few.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from dssc import ADSSC, clustering_accuracy, scattered_features, subspace_preserving_error
from dssc.plotting import plot_affinity, plot_clusters, plot_embedding, plot_spectrum

# %%
# Features
# --------
#
# Scattering coefficients change little if an image is shifted or slightly deformed. They are
# computed once and then read from a cache on disk.

images, y = load_digits(return_X_y=True)
images = images.reshape(-1, 8, 8)
X = scattered_features(images)
print(f"{len(X)} images, {X.shape[1]} features")


def show(name, model):
    """Print how good a clustering is, and the certificate of its affinity."""
    accuracy = clustering_accuracy(y, model.labels_)
    error = subspace_preserving_error(model.affinity_matrix_, y)
    print(f"{name}: accuracy {accuracy:.3f}, affinity between classes {error:.1%}")
    print(f"  {model.projection_.status}")


# %%
# As in the paper
# ---------------
#
# The paper takes as many eigenvectors as clusters. No gap follows the tenth eigenvalue, so this
# is not enough.

options = {"eta1": 1.0, "n_neighbors": 12, "warm_start": True, "random_state": 0}
model = ADSSC(n_clusters=10, n_components=10, **options).fit(X)
show("ten eigenvectors", model)

figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
plot_spectrum(model.affinity_matrix_, 10, embedding=model.embedding_, n_more=10, ax=ax)

# %%
# By default
# ----------
#
# By default, further eigenvectors are used as well, with weights that fall with their
# eigenvalues. And ``eta1`` and the number of neighbours are chosen without labels.

model.set_params(n_components=None).fit(X)
show("weighted eigenvectors", model)
model.set_params(eta1=None, n_neighbors=None).fit(X)
best = model.candidates_[0]
show(f"chosen automatically: eta1 {best.eta1:g}, {best.n_neighbors} neighbours", model)

# %%
# The result
# ----------
#
# Doubtful members, on the right of each row, are digits that a person would have to look at
# twice.

# sphinx_gallery_thumbnail_number = 3
figure, axes = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained")
plot_affinity(model, ax=axes[0], title="affinity by cluster")
plot_embedding(model, ax=axes[1], title="embedding")
figure, ax = plt.subplots(figsize=(7, 5), layout="constrained")
plot_clusters(images, model, ax=ax)
