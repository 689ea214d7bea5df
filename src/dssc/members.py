"""Which points speak for a cluster, which are in doubt, and where to draw them."""

import numpy as np
from sklearn.manifold import TSNE

FEWEST_PER_CLUSTER = 10
FEWEST_FOR_TSNE = 50
NOISE = 0.02  # norm of what is added to rows of norm one to tell equal ones apart


def certainty(embedding: np.ndarray, labels: np.ndarray, n_clusters: int):
    """Return how close points are to their cluster, and by how much closer than to any other.

    Closeness is the cosine of a point's row in the embedding with the mean direction of a cluster.

    Returns
    -------
    own, margin : ndarray of shape (n,)
        Cosine with the own cluster's direction, and its lead over the next cluster's.
    """
    rows = unit_rows(embedding)
    sums = np.zeros((n_clusters, rows.shape[1]))
    np.add.at(sums, labels, rows)
    cosines = rows @ unit_rows(sums).T
    points = np.arange(len(labels))
    own = cosines[points, labels].copy()
    if n_clusters == 1:
        return own, own
    cosines[points, labels] = -np.inf
    return own, own - cosines.max(axis=1)


def extremes(own, margin, labels, n_clusters: int, count: int):
    """Return, for each cluster, its most central members and its most doubtful ones."""
    central, doubtful = [], []
    for cluster in range(n_clusters):
        members = np.flatnonzero(labels == cluster)
        shown = min(count, -(-len(members) // 2))  # a small cluster shows a member once
        central.append(members[np.argsort(-own[members], kind="stable")[:shown]])
        order = members[np.argsort(margin[members], kind="stable")]
        doubtful.append(order[~np.isin(order, central[-1])][:shown])
    return central, doubtful


def sample(labels, n_clusters: int, most: int, rng) -> np.ndarray:
    """Return points to draw: all, or about `most` of them, a few at least of each cluster."""
    n = len(labels)
    if n <= most:
        return np.arange(n)
    chosen = []
    for cluster in range(n_clusters):
        members = np.flatnonzero(labels == cluster)
        quota = min(len(members), max(FEWEST_PER_CLUSTER, round(most * len(members) / n)))
        chosen.append(rng.choice(members, quota, replace=False))
    return np.sort(np.concatenate(chosen))


def layout(embedding, n_clusters: int, seed: int = 0) -> tuple[np.ndarray, str]:
    """Return places in the plane for rows of an embedding, in [0, 1], and the method's name."""
    rows = unit_rows(embedding)
    if len(rows) < FEWEST_FOR_TSNE or rows.shape[1] < 3:
        places, method = _principal(rows), "principal components"
    else:
        # Points of one component have the same row, and would all be drawn at the same place.
        noise = np.random.default_rng(seed).standard_normal(rows.shape)
        rows = rows + NOISE / np.sqrt(rows.shape[1]) * noise
        tsne = TSNE(
            2,
            perplexity=np.clip(len(rows) / (3 * n_clusters), 5, 30),
            init=1e-2 * _principal(rows),
            random_state=seed,
            max_iter=500,
        )
        places, method = tsne.fit_transform(rows.astype(np.float32)), "t-SNE"
    low, high = places.min(axis=0), places.max(axis=0)
    return (places - low) / np.where(high > low, high - low, 1.0), method


def unit_rows(X) -> np.ndarray:
    """Return rows scaled to norm one; a zero row stays."""
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    return np.divide(X, norms, out=np.zeros(X.shape), where=norms > 0)


def _principal(rows):
    centred = rows - rows.mean(axis=0)
    left, values, _ = np.linalg.svd(centred, full_matrices=False)
    places = (left * values)[:, :2]
    return np.pad(places, ((0, 0), (0, 2 - places.shape[1])))
