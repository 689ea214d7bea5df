"""Planted outliers: how well scores rank them, as the area under the ROC curve.

    DSSC_DATA=folder python benchmarks/outliers.py

To each data set five percent of outliers of one kind are added: "noise" has normal coordinates,
"shuffled" takes every coordinate from another random sample, "mixed" is the sum of two random
samples. Everyone sees rows of unit norm and runs with default parameters; the number of clusters is
given to those that take one. Scores are means over three draws of the outliers.
"""

import warnings

import numpy as np
from sklearn.cluster import HDBSCAN
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor

import dssc

SHARE, SEEDS = 0.05, range(3)


def data_sets():
    """Yield names, samples and numbers of clusters."""
    X, _ = dssc.make_union_of_subspaces(
        500, n_subspaces=5, dimension=4, n_features=30, noise=0.1, random_state=0
    )
    yield "made subspaces", X, 5
    digits = load_digits()
    yield "digits (scikit-learn)", digits.data, 10
    yield "Yale-B, 10 persons", pixels(dssc.fetch_yaleb(), 10), 10
    yield "COIL, 20 objects", pixels(dssc.fetch_coil(n_objects=40), 20), 20


def pixels(data, n_classes):
    """Return the pixels of the images of the first classes."""
    images = data.images[np.isin(data.target, np.unique(data.target)[:n_classes])]
    return images.reshape(len(images), -1) / 255.0


def outliers(X, kind, rng):
    """Return outliers of one kind for some samples."""
    count, d = int(SHARE * len(X)), X.shape[1]
    if kind == "noise":
        return X.mean() + X.std() * rng.standard_normal((count, d))
    if kind == "shuffled":
        return X[rng.integers(len(X), size=(count, d)), np.arange(d)]
    return X[rng.integers(len(X), size=count)] + X[rng.integers(len(X), size=count)]


def scores(X, n_clusters):
    """Return the scores of all samples by method: the higher, the more unusual."""
    model = dssc.ADSSC(n_clusters, random_state=0).fit(X)
    graph = dssc.GraphClustering(n_clusters, affinity="nearest_neighbors", random_state=0).fit(X)
    return {
        "ADSSC": model.outlier_scores_,
        "GraphClustering": graph.outlier_scores_,
        "1 - confidence": 1.0 - model.confidence_,
        "distance from subspace": model.subspaces().residuals,
        "LocalOutlierFactor": -LocalOutlierFactor().fit(X).negative_outlier_factor_,
        "HDBSCAN": 1.0 - HDBSCAN(copy=True).fit(X).probabilities_,
    }


def main():
    """Print a table with a row for each data set and kind of outliers."""
    warnings.simplefilter("ignore")  # of estimators that find no clear clusters
    rows, columns = [], None
    for name, X, n_clusters in data_sets():
        for kind in ("noise", "shuffled", "mixed"):
            areas = []
            for seed in SEEDS:
                bad = outliers(X, kind, np.random.default_rng(seed))
                is_bad = np.repeat([False, True], [len(X), len(bad)])
                found = scores(dssc.unit_norm(np.vstack([X, bad])), n_clusters)
                areas.append([roc_auc_score(is_bad, score) for score in found.values()])
            if columns is None:
                columns = list(found)
                print(f"| data, outliers | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}")
            rows.append(np.mean(areas, axis=0))
            print(f"| {name}, {kind} | {' | '.join(f'{a:.3f}' for a in rows[-1])} |", flush=True)
    print(f"| mean | {' | '.join(f'{a:.3f}' for a in np.mean(rows, axis=0))} |")


if __name__ == "__main__":
    main()
