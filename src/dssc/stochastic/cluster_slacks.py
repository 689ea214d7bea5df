"""Slacks ``K_ij - alpha_i - alpha_j`` of many pairs at once, for all kinds of K."""

from functools import singledispatch

import numpy as np

from dssc._typing import Array
from dssc.stochastic.bounded_similarity import MARGIN, Area, BoundedSimilarity, lowered_by
from dssc.stochastic.dense_similarity import DenseSimilarity
from dssc.stochastic.factored_similarity import FactoredSimilarity
from dssc.stochastic.similarity import Places, Similarity, SparseSimilarity

# Entries of K that are read at once.
BLOCK_ENTRIES = 1 << 20


@singledispatch
def largest_slacks(
    similarity: Similarity, potentials: Array, labels: Array, n_clusters: int, eta2: float
) -> Array:
    """Return bounds on the slacks between clusters, exact unless stated otherwise.

    Parameters
    ----------
    similarity : Similarity
        The symmetric K.
    potentials : ndarray of shape (n,)
        The potentials alpha.
    labels : ndarray of shape (n,)
        Clusters; none of them is empty.
    n_clusters : int
        Number of clusters.
    eta2 : float
        Regularisation of the projection.

    Returns
    -------
    slacks : ndarray of shape (n_clusters, n_clusters)
        The largest slack of a pair of points of each two clusters. The diagonal has no meaning.
    """
    raise TypeError(f"no slacks are known for {type(similarity).__name__}")


@largest_slacks.register
def _dense(
    similarity: DenseSimilarity, potentials: Array, labels: Array, n_clusters: int, eta2: float
) -> Array:
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], np.arange(n_clusters))
    slacks = np.full((n_clusters, n_clusters), -np.inf)
    step = max(1, BLOCK_ENTRIES // len(order))
    for begin in range(0, len(order), step):
        rows = order[begin : begin + step]
        block = similarity.K[rows][:, order] - (potentials[rows, None] + potentials[order])
        np.maximum.at(slacks, labels[rows], np.maximum.reduceat(block, starts, axis=1))
    return slacks


@largest_slacks.register
def _sparse(
    similarity: SparseSimilarity, potentials: Array, labels: Array, n_clusters: int, eta2: float
) -> Array:
    """Take every pair as one of zero similarity, and those that are stored as what they are."""
    lowest = np.full(n_clusters, np.inf)
    np.minimum.at(lowest, labels, potentials)
    slacks = -(lowest[:, None] + lowest)
    K = similarity.K.tocoo()
    _raise_at(slacks, K.row, K.col, K.data, potentials, labels)
    return slacks


@largest_slacks.register
def _factored(
    similarity: FactoredSimilarity, potentials: Array, labels: Array, n_clusters: int, eta2: float
) -> Array:
    """Read what bounds leave open; slacks below a margin are not told apart.

    K must have been projected before, so that its lists of large entries are known.
    """
    margin = MARGIN * eta2
    lowered = lowered_by(margin, (potentials, potentials))
    places = similarity.listed_above(lowered)
    for area in similarity.open_areas(lowered):
        places += similarity.area_above(area, lowered)
    slacks = np.full((n_clusters, n_clusters), -margin)
    for rows, columns in places:
        across = np.flatnonzero(labels[rows] != labels[columns])
        rows, columns = rows[across], columns[across]
        values = similarity.at(rows, columns)
        _raise_at(slacks, rows, columns, values, potentials, labels)
    return slacks


@singledispatch
def places_in_rows(similarity: Similarity, rows: Array, potentials: Array) -> list[Places]:
    """Return the places in marked rows whose slack may be above zero, perhaps with others."""
    raise TypeError(f"no slacks are known for {type(similarity).__name__}")


@places_in_rows.register
def _bounded_rows(similarity: BoundedSimilarity, rows: Array, potentials: Array) -> list[Places]:
    area = Area(rows, np.ones_like(rows), "rows")
    both = potentials, potentials
    return [*similarity.listed_above(both), *similarity.area_above(area, both)]


@places_in_rows.register
def _sparse_rows(similarity: SparseSimilarity, rows: Array, potentials: Array) -> list[Places]:
    places = np.flatnonzero(rows)
    slacks = similarity.K[places].toarray() - (potentials[places, None] + potentials)
    found, columns = np.nonzero(slacks > 0)
    return [(places[found], columns)]


def _raise_at(
    slacks: Array, rows: Array, columns: Array, values: Array, potentials: Array, labels: Array
) -> None:
    """Raise the slacks of clusters to those of some of their pairs, in either order."""
    found = values - (potentials[rows] + potentials[columns])
    np.maximum.at(slacks, (labels[rows], labels[columns]), found)
    np.maximum.at(slacks, (labels[columns], labels[rows]), found)
