"""Compare ADSSC with two methods of scikit-learn, on digits and on synthetic subspaces.

Run with ``make demo``; it writes ``demo.png``.
"""

import time
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.datasets import load_digits
from sklearn.metrics import normalized_mutual_info_score

from dssc import ADSSC, clustering_accuracy, make_union_of_subspaces
from dssc.plotting import plot_affinity

PICTURE = Path("demo.png")


def problems():
    """Yield the name, points and classes of each data set."""
    X, y = load_digits(return_X_y=True)
    yield "digits (1797 images of 8 x 8, 10 classes)", X, y
    X, y = make_union_of_subspaces(
        1000, n_subspaces=10, dimension=5, n_features=15, noise=0.05, random_state=0
    )
    yield "union of 10 subspaces of dimension 5 in R^15, with noise", X, y


def methods(n_clusters):
    """Return the estimators to compare, all with their default parameters."""
    return [
        ADSSC(n_clusters, random_state=0),
        KMeans(n_clusters, n_init=10, random_state=0),
        SpectralClustering(n_clusters, affinity="nearest_neighbors", random_state=0),
    ]


def main():
    """Print a table for each data set and write the figure."""
    figure, axes = plt.subplots(2, 2, figsize=(8, 8.4), layout="constrained")
    ADSSC(3, n_neighbors=20).fit(make_union_of_subspaces(random_state=0)[0])  # compiles the kernels
    for row, (name, X, y) in zip(axes, problems(), strict=True):
        print(f"\n{name}\n{'method':20} {'ACC':>6} {'NMI':>6} {'seconds':>8}")
        for method in methods(len(set(y))):
            start = time.perf_counter()
            labels = method.fit_predict(X)
            seconds = time.perf_counter() - start
            accuracy = clustering_accuracy(y, labels)
            nmi = normalized_mutual_info_score(y, labels)
            print(f"{type(method).__name__:20} {accuracy:6.3f} {nmi:6.3f} {seconds:8.2f}")
            if isinstance(method, ADSSC):
                plot_affinity(method.representation_matrix_, y, ax=row[0], title="|C|")
                plot_affinity(method.affinity_matrix_, y, ax=row[1], title="doubly stochastic A")
                row[0].set_ylabel(name.split(" (")[0].split(" of dim")[0])
                certificate = method.projection_.status
        print(f"A-DSSC's affinity: {certificate}")
    figure.savefig(PICTURE, dpi=120)
    print(f"\nwrote {PICTURE}: |C| beside the doubly stochastic A, with points sorted by class")


if __name__ == "__main__":
    main()
