"""From a spectral embedding to labels."""

import numpy as np
from scipy import linalg, sparse
from sklearn.cluster import KMeans
from sklearn.utils import check_array, gen_batches

from dssc.spectral.counts import check_counts

STRAYS_AT_ONCE = 256
DIGITS = 6
EQUAL = 1e-6  # share of a sum of distances that the digits above leave open
SEEDS_AMONG, SEEDS_PER_CLUSTER = 10_000, 100  # points that first centers are drawn from, at least


def assign_labels(
    embedding, n_clusters: int, *, method="kmeans", n_init=10, similarity=None, random_state=None
):
    """Return a label for every row of a spectral embedding.

    Parameters
    ----------
    embedding : array-like of shape (n_samples, n_components)
        Eigenvectors as `spectral_embedding` returns them.
    n_clusters : int
        Number of clusters.
    method : {"kmeans", "cluster_qr"}, default="kmeans"
        k-means on rows scaled to unit norm, or the direct method of Damle, Minden and Ying (2019),
        which needs no random start and as many clusters as components.
    n_init : int, default=10
        Random starts of k-means, of which the best is kept.
    similarity : array-like or sparse matrix of shape (n_samples, n_samples), or callable, optional
        Places the points whose row is zero: each goes to the cluster with the highest mean
        similarity to it. Without it they join the largest cluster. A function takes an array of
        samples and returns their rows of a symmetric similarity.
    random_state : int, RandomState instance or None, default=None
        Randomness of k-means.

    Returns
    -------
    labels : ndarray of shape (n_samples,)
        Integers from 0 to ``n_clusters - 1``.
    """
    U = check_array(embedding, dtype=[np.float64, np.float32], ensure_min_samples=1)
    check_counts(len(U), n_clusters, U.shape[1])
    norms = np.linalg.norm(U, axis=1)
    placed = norms > 0
    n_placed = np.count_nonzero(placed)
    if n_placed < n_clusters:
        raise ValueError(too_few_rows(int(n_placed), n_clusters))
    labels = np.empty(len(U), dtype=np.int32)
    if method == "kmeans":
        kmeans = KMeans(
            n_clusters, init=_seeds, n_init=n_init, copy_x=False, random_state=random_state
        )
        # In single precision: half the work, and all the digits kept below.
        directions = np.empty((n_placed, U.shape[1]), dtype=np.float32)
        np.divide(U[placed], norms[placed, None], out=directions, casting="same_kind")
        # k-means turns a difference in the last digit into other clusters. What rounding,
        # threads or another engine change must not matter.
        np.round(directions, DIGITS, out=directions)
        labels[placed] = kmeans.fit_predict(directions)
    elif method == "cluster_qr":
        labels[placed] = _cluster_qr(U[placed], n_clusters)
    else:
        raise ValueError(f"method={method!r} must be 'kmeans' or 'cluster_qr'")
    if n_placed < len(U):
        labels[~placed] = nearest_cluster(labels, placed, n_clusters, similarity)
    return labels


def too_few_rows(n_placed: int, n_clusters: int) -> str:
    """Return what to say of an embedding with too few rows to cluster."""
    return f"the embedding has {n_placed} nonzero rows, fewer than n_clusters={n_clusters}"


def _seeds(points, n_clusters, random_state):
    """Return the first centers of k-means: spread points, looked for in a sample of many."""
    n_drawn = max(SEEDS_AMONG, SEEDS_PER_CLUSTER * n_clusters)
    if len(points) > n_drawn:
        points = points[random_state.choice(len(points), n_drawn, replace=False)]
    return points[spread(points.astype(np.float64), n_clusters, random_state)]


def spread(points, n_clusters: int, rng) -> np.ndarray:
    """Return which points k-means++ starts from (Arthur and Vassilvitskii, 2007).

    Each is drawn with a chance in proportion to its squared distance from those before; of a few
    drawn at a time, the one that brings all points nearest is taken. scikit-learn does the same
    from the same random numbers; its checks and conversions, for every center anew, take longer
    than the rest of k-means.
    """
    n, n_trials = len(points), 2 + int(np.log(n_clusters))
    squares = np.einsum("ij,ij->i", points, points)
    chosen = np.empty(n_clusters, dtype=np.int64)
    chosen[0] = rng.choice(n, p=np.full(n, 1.0 / n))
    nearest = np.full(n, np.inf)
    drawn, total = chosen[:1], 0.0
    for i in range(n_clusters):
        if i > 0:
            heights = np.cumsum(nearest)
            total = heights[-1]
            drawn = np.searchsorted(heights, rng.uniform(size=n_trials) * total)
            np.minimum(drawn, n - 1, out=drawn)
        distances = points[drawn] @ points.T
        distances *= -2.0
        distances += squares
        distances += squares[drawn, None]
        np.clip(distances, 0.0, nearest, out=distances)
        # The first of equals, which points of one component are, lest rounding decide.
        sums = distances.sum(axis=1)
        best = np.argmax(sums <= sums.min() + EQUAL * total)
        chosen[i], nearest = drawn[best], distances[best]
    return chosen


def _cluster_qr(U, n_clusters):
    if U.shape[1] != n_clusters:
        raise ValueError(
            f"method='cluster_qr' needs n_components={U.shape[1]} equal to n_clusters={n_clusters}"
        )
    pivots = linalg.qr(U.T, pivoting=True, mode="r")[-1][:n_clusters]
    left, _, right = linalg.svd(U[pivots].T)
    return np.abs(U @ (left @ right)).argmax(axis=1)


def nearest_cluster(labels, placed, n_clusters, similarity):
    """Return the cluster of highest mean similarity for every point that is not `placed`."""
    sizes = np.bincount(labels[placed], minlength=n_clusters)
    if similarity is None:
        return sizes.argmax()
    members = sparse.csr_array(
        (1.0 / sizes[labels[placed]], (np.flatnonzero(placed), labels[placed])),
        shape=(len(labels), n_clusters),
    )
    strays = np.flatnonzero(~placed)
    means = [
        _symmetric_rows(similarity, strays[batch]) @ members
        for batch in gen_batches(len(strays), STRAYS_AT_ONCE)
    ]
    return np.concatenate([_as_array(mean).argmax(axis=1) for mean in means])


def _symmetric_rows(similarity, rows):
    if callable(similarity):
        return similarity(rows)
    S = sparse.csr_array(similarity) if sparse.issparse(similarity) else np.asarray(similarity)
    return S[rows] + S[:, rows].T


def _as_array(matrix):
    return matrix.toarray() if sparse.issparse(matrix) else matrix
