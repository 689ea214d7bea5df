"""From an affinity to labels: the spectral step of Algorithm 1.

Connected components are found first. Each one has eigenvalue one with a known eigenvector, and it
is exactly there, at a multiple eigenvalue, that iterative eigensolvers fail.
"""

import warnings

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh, splu
from sklearn.cluster import KMeans
from sklearn.utils import check_array, check_random_state

# Up to this size a dense eigensolver is as fast as an iterative one, and never fails.
DENSE_SIZE = 400
MOST_RESTARTS = 10
# Of the mean cluster size: a smaller piece is no cluster when there are too many pieces.
SMALLEST_SHARE = 0.1


def spectral_embedding(affinity, n_clusters: int, *, n_components=None, random_state=None):
    """Return the leading eigenvectors of an affinity normalised by its degrees.

    These are the eigenvectors of ``D^-1/2 W D^-1/2`` with the largest eigenvalues, where W is the
    symmetric part of the affinity and D its degrees; for a doubly stochastic affinity D is the
    identity and every Laplacian of the paper's Section 2.1 gives the same.

    Parameters
    ----------
    affinity : array-like or sparse matrix of shape (n_samples, n_samples)
        Nonnegative affinity, symmetrised here.
    n_clusters : int
        Number of clusters the embedding is for.
    n_components : int, optional
        Number of eigenvectors, `n_clusters` when not given. The paper takes one more for MNIST.
    random_state : int, RandomState instance or None, default=None
        Where the iterative eigensolver starts.

    Returns
    -------
    embedding : ndarray of shape (n_samples, n_components)
        Eigenvectors, one a column; rows may be zero. When the affinity has more connected
        components than clusters, a warning says so, the largest components define the clusters, and
        the rows of the points in all others are zero: `assign_labels` places them by similarity.
        Pieces below a tenth of the mean cluster size do not become clusters of their own then;
        where that leaves fewer than `n_clusters`, the large ones are divided by their spectrum.
    """
    W = _check_affinity(affinity)
    n_components = n_clusters if n_components is None else n_components
    _check_counts(W.shape[0], n_clusters, n_components)
    kept, strays = _components(W, n_clusters)
    points = np.flatnonzero(kept >= 0)
    degrees = np.asarray(W.sum(axis=1), dtype=np.float64).ravel()
    indicators = _indicators(kept[points], np.sqrt(degrees[points]))
    n_kept = indicators.shape[1]
    embedding = np.zeros((W.shape[0], n_components))
    embedding[points, : min(n_kept, n_components)] = indicators.toarray()[:, :n_components]
    if n_kept < n_components and not (strays and n_kept == n_clusters):
        N = _normalised(W, degrees)
        N = N if len(points) == N.shape[0] else N[points][:, points]
        n_wanted = min(n_components, len(points)) - n_kept
        rng = check_random_state(random_state)
        embedding[points, n_kept : n_kept + n_wanted] = _leading(N, indicators, n_wanted, rng)
    return embedding


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
    similarity : array-like or sparse matrix of shape (n_samples, n_samples), optional
        Places the points whose row is zero: each goes to the cluster with the highest mean
        similarity to it. Without it they join the largest cluster.
    random_state : int, RandomState instance or None, default=None
        Randomness of k-means.

    Returns
    -------
    labels : ndarray of shape (n_samples,)
        Integers from 0 to ``n_clusters - 1``.
    """
    U = check_array(embedding, dtype=[np.float64, np.float32], ensure_min_samples=1)
    _check_counts(len(U), n_clusters, U.shape[1])
    norms = np.linalg.norm(U, axis=1)
    placed = norms > 0
    n_placed = np.count_nonzero(placed)
    if n_placed < n_clusters:
        raise ValueError(
            f"the embedding has {n_placed} nonzero rows, fewer than n_clusters={n_clusters}"
        )
    labels = np.empty(len(U), dtype=np.int32)
    if method == "kmeans":
        kmeans = KMeans(n_clusters, n_init=n_init, random_state=random_state)
        labels[placed] = kmeans.fit_predict(U[placed] / norms[placed, None])
    elif method == "cluster_qr":
        labels[placed] = _cluster_qr(U[placed], n_clusters)
    else:
        raise ValueError(f"method={method!r} must be 'kmeans' or 'cluster_qr'")
    if n_placed < len(U):
        labels[~placed] = _nearest_cluster(labels, placed, n_clusters, similarity)
    return labels


def _check_affinity(affinity):
    W = check_array(affinity, accept_sparse="csr", dtype=[np.float64, np.float32])
    if W.shape[0] != W.shape[1]:
        raise ValueError(f"affinity must be square; its shape is {W.shape}")
    smallest = W.min()
    if smallest < 0:
        raise ValueError(f"affinity must be nonnegative; its smallest entry is {smallest:.3g}")
    if sparse.issparse(W):
        W = sparse.csr_array(W)
        return ((W + W.T) / 2).tocsr()
    return (W + W.T) / 2


def _check_counts(n_samples, n_clusters, n_components):
    if not 1 <= n_clusters <= n_samples:
        raise ValueError(f"n_clusters={n_clusters} must lie between 1 and n_samples={n_samples}")
    if not 1 <= n_components <= n_samples:
        raise ValueError(
            f"n_components={n_components} must lie between 1 and n_samples={n_samples}"
        )


def _connections(W):
    """Return the graph of an affinity; explicit zeros connect nothing."""
    if not sparse.issparse(W):
        return sparse.csr_array(W > 0)
    return W > 0


def _components(W, n_clusters):
    """Return the component of each point, the largest first, -1 for strays; and if there are any.

    Only more components than clusters make strays: all but the `n_clusters` largest, and pieces
    too small to be a cluster.
    """
    n_found, membership = connected_components(_connections(W), directed=False)
    sizes = np.bincount(membership)
    order = np.argsort(-sizes, kind="stable")
    rank = np.empty(n_found, dtype=np.int64)
    rank[order] = np.arange(n_found)
    if n_found <= n_clusters:
        return rank[membership], False
    large = sizes[order][:n_clusters] >= SMALLEST_SHARE * len(membership) / n_clusters
    n_kept = max(1, np.count_nonzero(large))
    kept = np.where(rank[membership] < n_kept, rank[membership], -1)
    warnings.warn(
        f"the affinity has {n_found} connected components, more than n_clusters={n_clusters}; "
        f"the {n_kept} largest define the clusters and the {np.count_nonzero(kept < 0)} points of "
        "the others go to the most similar cluster. Raise eta2 (or n_neighbors) to connect them",
        UserWarning,
        stacklevel=3,
    )
    return kept, True


def _indicators(membership, root_degrees):
    """Return the unit eigenvector of each component, as the columns of a sparse matrix."""
    # An isolated point has no degree; it is a component like any other.
    values = np.where(root_degrees > 0, root_degrees, 1.0)
    norms = np.sqrt(np.bincount(membership, values**2))
    places = np.arange(len(membership)), membership
    return sparse.csr_array((values / norms[membership], places))


def _normalised(W, degrees):
    scale = 1.0 / np.sqrt(np.where(degrees > 0, degrees, 1.0))
    if sparse.issparse(W):
        diagonal = sparse.diags_array(scale)
        return (diagonal @ W @ diagonal).tocsr()
    return W * scale[:, None] * scale[None, :]


def _leading(N, known, n_wanted, rng):
    """Return the leading eigenvectors of N orthogonal to the `known` ones of eigenvalue one."""
    n = N.shape[0]
    if n <= DENSE_SIZE or n_wanted > n // 4:
        return _leading_dense(N, known, n_wanted)
    start = rng.uniform(-1.0, 1.0, n)
    options = {"v0": start - known @ (known.T @ start), "ncv": min(n, 2 * n_wanted + 20)}
    # Moving the known eigenvalues from 1 to -1 leaves the wanted ones on top.
    deflated = _operator(n, lambda x: N @ x - 2.0 * (known @ (known.T @ x)))
    try:
        _, vectors = eigsh(deflated, n_wanted, which="LA", maxiter=MOST_RESTARTS, **options)
    except ArpackNoConvergence:
        inverse = _inverse_near_one(N, known)
        _, vectors = eigsh(inverse, n_wanted, which="LA", **options)
    return _with_fixed_signs(vectors[:, ::-1])


def _inverse_near_one(N, known):
    """Return ``(s I - N)^-1`` off the `known` vectors, s just above one.

    Nearly disconnected graphs have many eigenvalues close to one, which this tears apart; and it is
    those graphs whose factorisation stays sparse.
    """
    n = N.shape[0]
    shifted = sparse.csc_array((1.0 + 1e-5) * sparse.eye_array(n) - N)
    factor = splu(
        shifted,
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )

    def apply(x):
        y = factor.solve(x - known @ (known.T @ x))
        return y - known @ (known.T @ y)

    return _operator(n, apply)


def _operator(n, apply):
    return LinearOperator((n, n), matvec=apply, dtype=np.float64)


def _leading_dense(N, known, n_wanted):
    n = N.shape[0]
    dense = N.toarray() if sparse.issparse(N) else N
    deflated = dense.astype(np.float64) - 2.0 * (known @ known.T).toarray()
    _, vectors = linalg.eigh(deflated, subset_by_index=[n - n_wanted, n - 1])
    return _with_fixed_signs(vectors[:, ::-1])


def _with_fixed_signs(vectors):
    largest = np.argmax(np.abs(vectors), axis=0)
    return vectors * np.sign(vectors[largest, np.arange(vectors.shape[1])])


def _cluster_qr(U, n_clusters):
    if U.shape[1] != n_clusters:
        raise ValueError(
            f"method='cluster_qr' needs n_components={U.shape[1]} equal to n_clusters={n_clusters}"
        )
    pivots = linalg.qr(U.T, pivoting=True, mode="r")[-1][:n_clusters]
    left, _, right = linalg.svd(U[pivots].T)
    return np.abs(U @ (left @ right)).argmax(axis=1)


def _nearest_cluster(labels, placed, n_clusters, similarity):
    """Return the cluster of highest mean similarity for every point that is not `placed`."""
    sizes = np.bincount(labels[placed], minlength=n_clusters)
    if similarity is None:
        return sizes.argmax()
    members = sparse.csr_array(
        (1.0 / sizes[labels[placed]], (np.flatnonzero(placed), labels[placed])),
        shape=(len(labels), n_clusters),
    )
    S = sparse.csr_array(similarity) if sparse.issparse(similarity) else np.asarray(similarity)
    strays = np.flatnonzero(~placed)
    means = S[strays] @ members + S[:, strays].T @ members
    means = means.toarray() if sparse.issparse(means) else means
    return means.argmax(axis=1)
