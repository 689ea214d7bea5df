"""How much an approximate graph of neighbours misses, from a sample of exact rows."""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from dssc._devices import as_array
from dssc._typing import Array, RandomState
from dssc._validation import check_count
from dssc.expression import LeastSquaresFactor
from dssc.features import check_no_zero_rows

# Rows whose similarities are held together.
BATCH = 64


class MissedSimilarity(NamedTuple):
    """Result of :func:`missed_similarity`.

    Attributes
    ----------
    mean : float
        Mean of `shares`.
    bound : float
        With the confidence asked for, the mean over all points is at most this.
    shares : ndarray of shape (n_rows,)
        For every sampled point, the share of the similarity to its nearest neighbours that the
        graph misses.
    rows : ndarray of shape (n_rows,)
        The sampled points.
    """

    mean: float
    bound: float
    shares: Array
    rows: Array


def missed_similarity(
    X: Any,
    graph: Any,
    n_neighbors: int = 12,
    *,
    eta1: float = np.inf,
    n_rows: int = 400,
    confidence: float = 0.95,
    random_state: RandomState = 0,
) -> MissedSimilarity:
    r"""Bound the share of similarity that an approximate graph of neighbours misses.

    For points too many for a search of all pairs. The similarities of a few points to all others
    are computed, as :class:`dssc.ADSSC` does; by default they are the magnitudes of cosines. Of the
    `n_neighbors` largest :math:`k_{ij}` of point i, the graph misses the share

    .. math:: m_i = \frac{\sum_{j \notin G_i} k_{ij}}{\sum_j k_{ij}} .

    Points are drawn uniformly, with replacement, and :math:`0 \le m_i \le 1`. So the mean of m over
    all points is at most `bound` with probability `confidence`, by the inequality of Maurer and
    Pontil (2009), whatever the points are and however the graph was made. Costs 2 n d operations
    per sampled point, and one pass over X for a finite eta1.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Samples, none of them zero.
    graph : sparse matrix of shape (n_samples, n_samples)
        Its stored entries are the pairs that the graph holds. A pair counts if either of its two
        entries is stored.
    n_neighbors : int, default=12
        Neighbours of a point that count.
    eta1 : float, default=numpy.inf
        Ridge penalty of the self-expression whose coefficients are the similarities.
    n_rows : int, default=400
        Points to draw, at least 2.
    confidence : float, default=0.95
        Probability with which the bound holds.
    random_state : int, RandomState instance or None, default=0
        Randomness of the draw.

    Returns
    -------
    missed : MissedSimilarity
        Mean, bound, and what was found for every point.

    Examples
    --------
    >>> from dssc import make_union_of_subspaces, missed_similarity
    >>> from sklearn.neighbors import kneighbors_graph
    >>> X, _ = make_union_of_subspaces(random_state=0)
    >>> graph = kneighbors_graph(X, 12, metric="cosine")
    >>> missed_similarity(X, graph).mean < 0.5  # opposite points are similar here, and missed
    True
    """
    check_count("n_rows", n_rows)
    check_count("n_neighbors", n_neighbors)
    n = X.shape[0]
    if n_rows < 2 or not 0 < confidence < 1:
        raise ValueError(
            f"n_rows={n_rows!r} must be at least 2 and confidence={confidence!r} between 0 and 1"
        )
    if graph.shape != (n, n):
        raise ValueError(f"graph has shape {graph.shape}; X has {n} rows, so ({n}, {n}) is needed")
    X = as_array(X)
    check_no_zero_rows(X)
    factor = LeastSquaresFactor(X, eta1)
    pattern = sparse.csr_array(graph).astype(bool)
    pattern = sparse.csr_array(pattern + pattern.T)
    rows = check_random_state(random_state).randint(n, size=n_rows)
    batches = [rows[i : i + BATCH] for i in range(0, n_rows, BATCH)]
    shares = np.concatenate([_shares(factor, pattern, b, n_neighbors) for b in batches])
    mean = float(shares.mean())
    return MissedSimilarity(mean, mean_bound(shares, confidence), shares, rows)


def mean_bound(shares: Array, confidence: float) -> float:
    """Return an upper bound on the expectation of numbers from 0 to 1, given independent draws.

    The empirical Bernstein inequality of Maurer and Pontil, "Empirical Bernstein bounds and sample
    variance penalization", COLT 2009, theorem 4.
    """
    m, log = len(shares), np.log(2.0 / (1.0 - confidence))
    spread = np.sqrt(2.0 * shares.var(ddof=1) * log / m)
    return float(min(1.0, shares.mean() + spread + 7.0 * log / (3.0 * (m - 1))))


def _shares(
    factor: LeastSquaresFactor, pattern: sparse.csr_array, rows: Array, n_neighbors: int
) -> Array:
    """Return the share of similarity that a pattern misses in some rows."""
    n = len(factor.order)
    count = min(n_neighbors, n - 1)
    place = np.argsort(factor.order)
    K = np.empty((len(rows), n))
    K[:, factor.order] = np.abs(factor.product_rows(place[rows]))
    K *= (factor.scales[rows, None] + factor.scales) / 2
    K[np.arange(len(rows)), rows] = -np.inf
    nearest = np.argpartition(-K, count - 1, axis=1)[:, :count]
    largest = np.take_along_axis(K, nearest, axis=1)
    held = np.take_along_axis(pattern[rows].toarray(), nearest, axis=1)
    total = largest.sum(axis=1)
    return np.where(held | (total == 0)[:, None], 0.0, largest).sum(axis=1) / np.maximum(
        total, np.finfo(float).tiny
    )
