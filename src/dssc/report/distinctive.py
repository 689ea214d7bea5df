"""The features that set a cluster apart from the other samples."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from dssc._typing import Array, Matrix

# Features listed per cluster.
FEATURES_SHOWN = 5
# Differences below this, in standard deviations, set nothing apart.
SMALLEST_DIFFERENCE = 0.1


class DistinctiveFeature(NamedTuple):
    """A feature whose mean in a cluster differs from its mean elsewhere.

    `difference` is in standard deviations of the feature over all samples.
    """

    name: str
    inside: float
    outside: float
    difference: float


def distinctive_features(
    X: Any, names: Sequence[str], labels: Array, n_clusters: int
) -> list[list[DistinctiveFeature]]:
    """Return for each cluster the features with the largest differences, the largest first."""
    X = sparse.csr_array(X) if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    n = X.shape[0]
    members = sparse.csr_array((np.ones(n), (labels, np.arange(n))), shape=(n_clusters, n))
    sums = _dense(members @ X)
    sizes = np.bincount(labels, minlength=n_clusters)[:, None]
    total = sums.sum(axis=0)
    inside = sums / np.maximum(sizes, 1)
    outside = (total - sums) / np.maximum(n - sizes, 1)
    spread = np.sqrt(np.maximum(_mean_squares(X, total / n), 0.0))
    difference = np.divide(
        inside - outside, spread, out=np.zeros_like(inside), where=_is_spread(spread, X)
    )
    difference[(sizes == 0).ravel() | (sizes == n).ravel()] = 0.0
    found = []
    for cluster in range(n_clusters):
        order = np.argsort(-np.abs(difference[cluster]), kind="stable")[:FEATURES_SHOWN]
        found.append(
            [
                DistinctiveFeature(
                    names[j],
                    float(inside[cluster, j]),
                    float(outside[cluster, j]),
                    float(difference[cluster, j]),
                )
                for j in order.tolist()
                if abs(difference[cluster, j]) >= SMALLEST_DIFFERENCE
            ]
        )
    return found


def _mean_squares(X: Matrix, mean: Array) -> Array:
    """Return the mean squared distance of each feature from its mean."""
    if sparse.issparse(X):
        return _dense(X.multiply(X).mean(axis=0)).ravel() - mean**2
    return np.mean((X - mean) ** 2, axis=0)


def _is_spread(spread: Array, X: Matrix) -> Array:
    """Return which features vary by more than rounding."""
    largest = _dense(abs(X).max(axis=0)).ravel()
    return spread > 1e-7 * largest


def _dense(values: Any) -> Array:
    return np.asarray(values.toarray() if sparse.issparse(values) else values)
