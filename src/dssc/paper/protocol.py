"""The paper's protocol: many single runs of k-means on one embedding, and their mean."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import KMeans, kmeans_plusplus
from sklearn.metrics import normalized_mutual_info_score

from dssc.metrics import clustering_accuracy, nonzeros_per_point, subspace_preserving_error
from dssc.spectral.labels import nearest_cluster


class Runs(NamedTuple):
    """How k-means is run on an embedding."""

    candidates: int | None  # for each of the first centres; None is scikit-learn's number
    n_init: int  # starts of a run, of which the best counts
    skipped: int  # leading eigenvectors that are left out


# Plain k-means++ has one candidate and a run one start, as the paper's Table 1 evidently had.
# scikit-learn's defaults are greedy seeds, which alone give up to .06 more on the same embeddings,
# and the best of ten starts: A-DSSC, TSC and EnSC in the paper's Table 2 agree with both to the
# digit. SSC comes near only without the first, all but constant eigenvector; that kind of runs fits
# one row, is there to compare, and no table uses it.
KINDS = {
    "plain": Runs(1, 1, 0),
    "greedy": Runs(None, 1, 0),
    "best of ten": Runs(None, 10, 0),
    "best of ten, first eigenvector left out": Runs(None, 10, 1),
}


def scores(model, y, runs: int, seeds: str = "plain", by_affinity: bool = False) -> dict[str, Any]:
    """Return the numbers of the paper's tables for a fitted estimator, and those of its one fit."""
    labels = label_runs(model.embedding_, model.n_clusters, similarity(model), runs, seeds)
    accuracies = [clustering_accuracy(y, found) for found in labels]
    matrix = model.affinity_matrix_ if by_affinity else judged(model)
    return {
        "ACC": float(np.mean(accuracies)),
        "ACC_std": float(np.std(accuracies)),
        "NMI": float(np.mean([normalized_mutual_info_score(y, found) for found in labels])),
        "SPE": float(subspace_preserving_error(matrix, y)),
        "NNZ": float(nonzeros_per_point(matrix)),
        "fit_ACC": float(clustering_accuracy(y, model.labels_)),
        "fit_NMI": float(normalized_mutual_info_score(y, model.labels_)),
    }


def judged(model):
    """Return the matrix whose SPE and NNZ Table 1 gives: A, or C of the methods without one.

    TSC's is its affinity; LRSC and the others are judged by C itself. In Table 2 all are judged by
    the affinity.
    """
    has_affinity = hasattr(model, "projection_") or type(model).__name__ == "TSC"
    return model.affinity_matrix_ if has_affinity else model.representation_matrix_


def similarity(model):
    """Return the similarities by which points without an embedding are placed."""
    K = abs(model.representation_matrix_)
    return (K + K.T) / 2


def label_runs(U, n_clusters: int, K, runs: int, seeds: str = "plain") -> list[np.ndarray]:
    """Return the labels of runs of k-means on the unit rows of an embedding.

    A zero row is a point outside of the graph's large pieces. It goes to the cluster of highest
    mean similarity, as in `dssc.assign_labels`.
    """
    kind = KINDS[seeds]
    U = U[:, kind.skipped :]
    norms = np.linalg.norm(U, axis=1)
    placed = norms > 0
    rows = (U[placed] / norms[placed, None]).astype(np.float32)
    found = []
    init = partial(first_centers, seeds=seeds)
    for seed in range(runs):
        kmeans = KMeans(n_clusters, init=init, n_init=kind.n_init, random_state=seed)
        labels = np.empty(len(U), dtype=np.int64)
        labels[placed] = kmeans.fit_predict(rows)
        if not placed.all():
            labels[~placed] = nearest_cluster(labels, placed, n_clusters, K)
        found.append(labels)
    return found


def first_centers(points, n_clusters: int, random_state, seeds: str = "plain") -> np.ndarray:
    """Return the centers k-means starts from."""
    trials = KINDS[seeds].candidates
    return kmeans_plusplus(points, n_clusters, n_local_trials=trials, random_state=random_state)[0]
