"""Counts of points by known class and cluster."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix

from dssc._typing import Array


@dataclass(frozen=True)
class Confusion:
    """Classes in rows and clusters in columns, with the best matching on the diagonal.

    Attributes
    ----------
    classes : list of str
        Names of the classes.
    class_order : ndarray of shape (n_classes,)
        The class of each row, by its place among the sorted classes.
    clusters : list of int
        The cluster of each column.
    counts : ndarray of shape (n_classes, n_clusters)
        Points of a class in a cluster.
    """

    classes: list[str]
    class_order: Array
    clusters: list[int]
    counts: Array

    @property
    def n_matched(self) -> int:
        """Number of points in the cluster that is matched with their class."""
        return int(np.trace(self.counts))


def confusion_matrix(labels_true: ArrayLike, labels: Array, n_clusters: int) -> Confusion:
    """Count the points of each class in each cluster, and match classes with clusters."""
    classes = np.unique(labels_true)
    counts = np.zeros((len(classes), n_clusters), dtype=np.int64)
    counts[:, np.unique(labels)] = contingency_matrix(labels_true, labels)
    rows, columns = linear_sum_assignment(counts, maximize=True)
    clusters = [*columns.tolist(), *_others(n_clusters, columns)]
    matched = [*rows.tolist(), *_others(len(classes), rows)]
    names = [str(classes[row]) for row in matched]
    return Confusion(names, np.array(matched), clusters, counts[np.ix_(matched, clusters)])


def _others(count: int, matched: Array) -> list[int]:
    return np.setdiff1d(np.arange(count), matched).tolist()
