"""
Image embeddings
================

An encoder turns images into vectors, and images of one kind get similar vectors, even of kinds that
the encoder has not seen. Any encoder will do: here a small network learns to tell the digits 0 to 4
apart, and we cluster what its hidden layer says about the digits 5 to 9. Vectors from a pretrained
network are used in the same way: one row per image.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier

from dssc import ADSSC, clustering_accuracy
from dssc.plotting import plot_clusters, plot_embedding


def main():
    """Train an encoder on some digits, and cluster its vectors of the others."""
    pixels, digits = load_digits(return_X_y=True)
    known = digits < 5
    network = MLPClassifier((128,), random_state=0, max_iter=300).fit(pixels[known], digits[known])
    images, y = pixels[~known], digits[~known]
    X = encode(network, images)

    model = ADSSC(n_clusters=5, random_state=0).fit(X)
    print(f"{X.shape[0]} images of digits that the encoder has not seen, {X.shape[1]} features")
    print(model.explanation_)
    print(f"ADSSC on embeddings:   accuracy {clustering_accuracy(y, model.labels_):.3f}")
    for name, vectors in {"embeddings": X, "pixels": images}.items():
        labels = KMeans(5, n_init=10, random_state=0).fit_predict(vectors)
        print(f"k-means on {name + ':':12} accuracy {clustering_accuracy(y, labels):.3f}")

    _, ax = plt.subplots(figsize=(5, 4.4), layout="constrained")
    plot_embedding(model.embedding_, model.labels_, ax=ax, title="embedding")
    _, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
    plot_clusters(images.reshape(-1, 8, 8), model.labels_, model.embedding_, ax=ax)
    plt.show()


def encode(network, images):
    """Return the activations of the hidden layer."""
    return np.maximum(images @ network.coefs_[0] + network.intercepts_[0], 0.0)


if __name__ == "__main__":
    main()
