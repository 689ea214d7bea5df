"""Common clustering methods and ours on vectors of many fields, everyone at defaults.

    pip install evoc umap-learn
    DSSC_DATA=folder python benchmarks/peers.py [name ...]

Methods above the line are told the number of classes, those below find it. Points that a method
leaves out (label -1) count as wrong in ACC and as one cluster more in ARI and NMI. Prints a table
of means and one with the ARI on every data set. Seconds are those of the second of two runs, since
several methods compile first, unless the first takes very long.
"""

import sys
import time
import warnings

import numpy as np
from selection_data import VECTORS, load
from sklearn.cluster import HDBSCAN, KMeans, SpectralClustering
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from dssc import ADSSC, clustering_accuracy

# Seconds of a run after which there is no second one.
SLOW = 15.0


def kmeans(X, k):
    """Return labels of scikit-learn's k-means."""
    return KMeans(k, random_state=0).fit_predict(X)


def spectral(X, k):
    """Return labels of scikit-learn's spectral clustering, with the affinity that suits vectors."""
    return SpectralClustering(k, affinity="nearest_neighbors", random_state=0).fit_predict(X)


def hdbscan(X, _):
    """Return labels of HDBSCAN."""
    return HDBSCAN(copy=True).fit_predict(X)


def umap_hdbscan(X, _):
    """Return labels of HDBSCAN on a UMAP embedding."""
    from umap import UMAP

    return HDBSCAN(copy=True).fit_predict(UMAP(random_state=0).fit_transform(X))


def evoc(X, _):
    """Return labels of EVōC."""
    from evoc import EVoC

    return EVoC(random_state=0).fit_predict(X)


def adssc(X, k):
    """Return labels of A-DSSC with the number of clusters given."""
    return ADSSC(k, random_state=0).fit_predict(X)


def adssc_counted(X, _):
    """Return labels of A-DSSC with the number of clusters estimated."""
    return ADSSC(None, random_state=0).fit_predict(X)


TOLD = {"KMeans": kmeans, "SpectralClustering": spectral, "ADSSC(k)": adssc}
COUNTING = {
    "HDBSCAN": hdbscan, "UMAP + HDBSCAN": umap_hdbscan, "EVōC": evoc, "ADSSC(None)": adssc_counted,
}  # fmt: skip


def measure(method, X, y):
    """Return the scores of a method, the share of points left out, its k and its seconds."""
    k = len(np.unique(y))
    seconds = 0.0
    for _ in range(2):
        if seconds < SLOW:
            start = time.perf_counter()
            labels = np.asarray(method(X, k))
            seconds = time.perf_counter() - start
    placed = labels >= 0
    n_found = len(np.unique(labels[placed]))
    correct = clustering_accuracy(y[placed], labels[placed]) * placed.mean() if n_found else 0.0
    return {
        "ACC": correct,
        "ARI": adjusted_rand_score(y, labels),
        "NMI": normalized_mutual_info_score(y, labels),
        "left out": 1.0 - placed.mean(),
        "within a fifth": abs(n_found - k) <= 0.2 * k,
        "seconds": seconds,
        "k": n_found,
    }


def main(names):
    """Print both tables."""
    warnings.simplefilter("ignore")
    names = names or list(VECTORS)
    methods = {**TOLD, **COUNTING}
    results = {name: {} for name in names}
    for name in names:
        X, y = load(name)
        X = X.astype(np.float32)
        for method, function in methods.items():
            results[name][method] = measure(function, X, y)
            print(name, method, results[name][method], file=sys.stderr, flush=True)
    print("| method | ACC | ARI | NMI | left out | k within a fifth | seconds in all |")
    print("|---" * 7 + "|")
    for method in methods:
        rows = [results[name][method] for name in names]
        mean = {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}
        counted = f"{mean['within a fifth']:.0%}" if method in COUNTING else "given"
        print(
            f"| {method} | {mean['ACC']:.3f} | {mean['ARI']:.3f} | {mean['NMI']:.3f} "
            f"| {mean['left out']:.0%} | {counted} | {mean['seconds'] * len(rows):.1f} |"
        )
    print("\n| data | " + " | ".join(methods) + " |")
    print("|---" * (len(methods) + 1) + "|")
    for name in names:
        cells = [
            f"{row['ARI']:.3f}" + (f" ({row['k']})" if method in COUNTING else "")
            for method, row in results[name].items()
        ]
        print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main(sys.argv[1:])
