"""Counts of points by known class and cluster."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix

from dssc._typing import Array


@dataclass
class Confusion:
    """Classes in rows and clusters in columns, with the best matching on the diagonal."""

    classes: list[str]
    clusters: list[int]
    counts: Array


def confusion_matrix(labels_true: ArrayLike, labels: Array, n_clusters: int) -> Confusion:
    """Count the points of each class in each cluster, and match classes with clusters."""
    classes = np.unique(labels_true)
    counts = np.zeros((len(classes), n_clusters), dtype=np.int64)
    counts[:, np.unique(labels)] = contingency_matrix(labels_true, labels)
    rows, columns = linear_sum_assignment(counts, maximize=True)
    clusters = [*columns.tolist(), *_others(n_clusters, columns)]
    matched = [*rows.tolist(), *_others(len(classes), rows)]
    names = [str(classes[row]) for row in matched]
    return Confusion(names, clusters, counts[np.ix_(matched, clusters)])


def _others(count: int, matched: Array) -> list[int]:
    return np.setdiff1d(np.arange(count), matched).tolist()
