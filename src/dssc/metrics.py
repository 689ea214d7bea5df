"""Quality of a clustering or an affinity, given the true classes.

For normalised mutual information use scikit-learn's `normalized_mutual_info_score`, whose default
is the paper's arithmetic mean.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from dssc._typing import Matrix
from dssc._validation import check_structure


def clustering_accuracy(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Return the share of points labelled correctly under the best matching of labels (ACC).

    Every predicted label is matched with at most one class, and every class with at most one
    predicted label, so that the number of agreements is largest. Labels may be of any type, and
    there may be more or fewer clusters than classes.

    Examples
    --------
    >>> from dssc import clustering_accuracy
    >>> clustering_accuracy(["a", "a", "b", "b"], [1, 1, 0, 2])
    0.75
    """
    classes, clusters = column_or_1d(labels_true), column_or_1d(labels_pred)
    check_consistent_length(classes, clusters)
    if len(classes) == 0:
        raise ValueError("clustering_accuracy needs at least one label; got none")
    counts = contingency_matrix(classes, clusters)
    matched = counts[linear_sum_assignment(counts, maximize=True)].sum()
    return float(matched / len(classes))


def subspace_preserving_error(affinity: ArrayLike | Matrix, labels_true: ArrayLike) -> float:
    """Return the mean share of a point's affinity that lies on points of other classes (SPE).

    Points are the rows of the affinity; a zero row counts as an error of one. The paper's matrices
    have the points as columns: transpose them first.
    """
    magnitude = abs(_check_affinity(affinity))
    n = magnitude.shape[0]
    classes, labels = np.unique(column_or_1d(labels_true), return_inverse=True)
    if len(labels) != n:
        raise ValueError(f"affinity has {n} points but labels_true has {len(labels)}")
    points = np.arange(n)
    one_hot = sparse.csr_array((np.ones(n), (points, labels)), shape=(n, len(classes)))
    mass = magnitude @ one_hot
    mass = mass.toarray() if sparse.issparse(mass) else mass
    total = mass.sum(axis=1)
    shares = np.divide(total - mass[points, labels], total, out=np.ones(n), where=total > 0)
    return float(shares.mean())


def nonzeros_per_point(affinity: ArrayLike | Matrix, *, threshold: float = 1e-9) -> float:
    """Return the mean number of entries per row with magnitude above `threshold` (NNZ)."""
    matrix = _check_affinity(affinity)
    values = matrix.data if sparse.issparse(matrix) else matrix
    return float(np.count_nonzero(np.abs(values) > threshold) / matrix.shape[0])


def _check_affinity(affinity: ArrayLike | Matrix) -> Matrix:
    check_structure("affinity", affinity)
    matrix = check_array(affinity, accept_sparse=["csr", "csc", "coo"])
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"affinity must be square; its shape is {matrix.shape}")
    return matrix
