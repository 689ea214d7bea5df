"""Many clusters: A-DSSC with given parameters beside scikit-learn's SpectralClustering.

    [DSSC_DATA=folder] python benchmarks/many_clusters.py

4,500 points of 150 subspaces in 256 dimensions and, with DSSC_DATA, 10,003 text vectors of 77
classes. Medians of three fits in one process; the seconds of the steps are those of the last one.
"""

import os
import statistics
import time

import numpy as np
from selection_data import load
from sklearn.cluster import SpectralClustering

import dssc


def union():
    """Return 4,500 noisy points of 150 subspaces of dimension 6."""
    options = {"n_subspaces": 150, "dimension": 6, "n_features": 256, "noise": 1.0}
    return dssc.make_union_of_subspaces(4500, random_state=0, **options)


def timed(model, X, y):
    """Return the median seconds of three fits, and the accuracy of the last one."""
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        labels = model.fit_predict(X)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds), dssc.clustering_accuracy(y, labels)


def main():
    """Print one row per data set and method."""
    sets = [("150 subspaces", *union(), {"eta1": 1.0, "n_neighbors": 12})]
    if "DSSC_DATA" in os.environ:
        sets.append(("banking77", *load("banking77"), {"eta1": 1000.0, "n_neighbors": 14}))
    print("| data | method | seconds | ACC | steps |")
    print("|---" * 5 + "|")
    for name, X, y, parameters in sets:
        k = len(np.unique(y))
        ours = dssc.ADSSC(k, signed=name == "banking77", random_state=0, **parameters)
        theirs = SpectralClustering(k, affinity="nearest_neighbors", random_state=0)
        for model, points in ((ours, X), (theirs, dssc.unit_norm(X))):
            seconds, accuracy = timed(model, points, y)
            steps = {step: round(s, 2) for step, s in getattr(model, "timings_", {}).items()}
            method = type(model).__name__
            print(f"| {name} | {method} | {seconds:.2f} | {accuracy:.3f} | {steps or ''} |")


if __name__ == "__main__":
    main()
