"""Which points are typical of a cluster, which are doubtful, and where to draw them."""

import numpy as np
from sklearn.manifold import TSNE

from dssc._threads import one_thread
from dssc._typing import Array

# A sample of the points has at least this many of each cluster.
FEWEST_PER_CLUSTER = 10
# Fewer points than this are drawn by principal components.
FEWEST_FOR_TSNE = 50
# Norm of the noise added to rows of norm one, so that t-SNE draws equal rows at different places.
LAYOUT_NOISE = 0.02


def certainty(embedding: Array, labels: Array, n_clusters: int) -> tuple[Array, Array]:
    """Return how close each point is to its cluster, and its lead over the next cluster.

    Closeness is the cosine of a point's row in the embedding with the mean direction of a cluster.

    Returns
    -------
    closeness, margin : ndarray of shape (n,)
        Cosine with the direction of the point's own cluster, and its lead over that of the next.
    """
    rows = unit_rows(embedding)
    sums = np.zeros((n_clusters, rows.shape[1]))
    np.add.at(sums, labels, rows)
    cosines = rows @ unit_rows(sums).T
    points = np.arange(len(labels))
    closeness = cosines[points, labels].copy()
    if n_clusters == 1:
        return closeness, closeness
    cosines[points, labels] = -np.inf
    return closeness, closeness - cosines.max(axis=1)


def central_and_doubtful(
    closeness: Array, margin: Array, labels: Array, n_clusters: int, count: int
) -> tuple[list[Array], list[Array]]:
    """Return the most central and the most doubtful members of each cluster, at most `count`."""
    central: list[Array] = []
    doubtful: list[Array] = []
    for cluster in range(n_clusters):
        members = np.flatnonzero(labels == cluster)
        shown = min(count, -(-len(members) // 2))  # no member of a small cluster is both
        central.append(members[np.argsort(-closeness[members], kind="stable")[:shown]])
        order = members[np.argsort(margin[members], kind="stable")]
        doubtful.append(order[~np.isin(order, central[-1])][:shown])
    return central, doubtful


def sample_points(
    labels: Array, n_clusters: int, max_points: int, rng: np.random.Generator
) -> Array:
    """Return the points to draw: all of them, or about `max_points` with a few of each cluster."""
    n = len(labels)
    if n <= max_points:
        return np.arange(n)
    chosen = []
    for cluster in range(n_clusters):
        members = np.flatnonzero(labels == cluster)
        quota = min(len(members), max(FEWEST_PER_CLUSTER, round(max_points * len(members) / n)))
        chosen.append(rng.choice(members, quota, replace=False))
    return np.sort(np.concatenate(chosen))


def plane_layout(embedding: Array, n_clusters: int, seed: int = 0) -> tuple[Array, str]:
    """Return positions in [0, 1] x [0, 1] for the rows of an embedding, and the method's name."""
    rows = unit_rows(embedding)
    if len(rows) < FEWEST_FOR_TSNE or rows.shape[1] < 3:
        positions, method = _principal(rows), "principal components"
    else:
        # Points of one component have the same row, and would all be drawn at the same place.
        noise = np.random.default_rng(seed).standard_normal(rows.shape)
        rows = rows + LAYOUT_NOISE / np.sqrt(rows.shape[1]) * noise
        tsne = TSNE(
            2,
            perplexity=np.clip(len(rows) / (3 * n_clusters), 5, 30),
            init=1e-2 * _principal(rows),
            random_state=seed,
            max_iter=500,
        )
        with one_thread():  # its 500 steps are short
            positions, method = tsne.fit_transform(rows.astype(np.float32)), "t-SNE"
    low, high = positions.min(axis=0), positions.max(axis=0)
    return (positions - low) / np.where(high > low, high - low, 1.0), method


def unit_rows(X: Array) -> Array:
    """Return rows scaled to norm one; a zero row stays zero."""
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    return np.divide(X, norms, out=np.zeros(X.shape), where=norms > 0)


def _principal(rows: Array) -> Array:
    """Return the first two principal components."""
    centred = rows - rows.mean(axis=0)
    left, values, _ = np.linalg.svd(centred, full_matrices=False)
    positions = (left * values)[:, :2]
    return np.pad(positions, ((0, 0), (0, 2 - positions.shape[1])))
