"""Modularity of clusterings."""

import numpy as np
from scipy import sparse

from dssc._typing import Array
from dssc.graph import is_inside


def modularity(graph: sparse.csr_array, labels: Array) -> float:
    """Return the share of affinity inside clusters, minus its expectation under chance.

    Chance distributes the affinity over all pairs of points in proportion to their degrees (Newman
    and Girvan, 2004).
    """
    degrees = graph @ np.ones(graph.shape[1])
    inside = np.dot(graph.data, is_inside(graph, labels))
    shares = np.bincount(labels, degrees) / degrees.sum()
    return float(inside / degrees.sum() - np.sum(shares**2))
