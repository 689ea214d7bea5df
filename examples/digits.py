"""
Handwritten digits
==================

From images to clusters, and how to see whether they are good. The digits that come with
scikit-learn are scattered (the features of the paper), and the spectrum of the affinity says how
many eigenvectors to use.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from dssc import ADSSC, clustering_accuracy, scattered_features, subspace_preserving_error
from dssc.plotting import plot_affinity, plot_clusters, plot_embedding, plot_spectrum


def main():
    """Cluster with ten eigenvectors, then with as many as the spectrum suggests."""
    images, y = load_digits(return_X_y=True)
    images = images.reshape(-1, 8, 8)
    X = scattered_features(images)
    model = ADSSC(n_clusters=10, random_state=0, warm_start=True).fit(X)
    report("ten eigenvectors", model, y)

    _, ax = plt.subplots(figsize=(7, 3), layout="constrained")
    plot_spectrum(model.affinity_matrix_, 10, embedding=model.embedding_, n_more=10, ax=ax)
    # Some digits are written in more than one way, so there are more groups than classes: look for
    # the widest gap up to twice the number of clusters.
    values = ax.collections[1].get_offsets()[:, 1]
    widest = int(np.argmax(values[:-1] - values[1:])) + 1
    model.set_params(n_components=widest).fit(X)
    report(f"{widest} eigenvectors, where the gap is widest", model, y)

    _, axes = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained")
    plot_affinity(model.affinity_matrix_, model.labels_, ax=axes[0], title="affinity by cluster")
    plot_embedding(model.embedding_, model.labels_, ax=axes[1], title="embedding")
    _, ax = plt.subplots(figsize=(7, 5), layout="constrained")
    plot_clusters(images, model.labels_, model.embedding_, ax=ax)
    plt.show()


def report(name, model, y):
    """Print how good a clustering is, and the proof behind its affinity."""
    accuracy = clustering_accuracy(y, model.labels_)
    error = subspace_preserving_error(model.affinity_matrix_, y)
    print(f"{name}: accuracy {accuracy:.3f}, affinity between classes {error:.1%}")
    print(f"  {model.projection_.status}")


if __name__ == "__main__":
    main()
