"""Affinities that the tests of this folder share."""

import numpy as np
from scipy import sparse

from dssc import assign_labels, spectral_embedding


def blocks(*sizes, noise=0.0, seed=0):
    """Return a block affinity and the block of each point, in random order."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    W = (y[:, None] == y[None, :]) * (0.5 + 0.5 * rng.random((len(y), len(y))))
    W += noise * rng.random(W.shape)
    return (W + W.T) / 2, y


def cluster(W, k, **options):
    embedding = spectral_embedding(W, k, random_state=0)
    return assign_labels(embedding, k, random_state=0, **options)


def doubly_stochastic_graph(rng, n, n_permutations=4, n_pieces=1):
    """Return the mean of random permutations within pieces, made symmetric."""
    A = sparse.csr_array((n, n))
    for piece in np.array_split(np.arange(n), n_pieces):
        for _ in range(n_permutations):
            to = rng.permutation(piece)
            P = sparse.csr_array((np.ones(len(piece)), (piece, to)), shape=(n, n))
            A = A + P + P.T
    return sparse.csr_array(A / (2 * n_permutations))


def ring(n, width=3):
    """Return the graph of a ring: its eigenvalues come in pairs and crowd below one."""
    A = sum(
        sparse.csr_array((np.ones(n), (np.arange(n), (np.arange(n) + step) % n)), shape=(n, n))
        for step in range(1, width + 1)
    )
    return sparse.csr_array(A + A.T) / (2 * width)


def span(U):
    return U @ U.T
