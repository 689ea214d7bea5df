"""The entries that a support lacks, by looking at all of them."""

import numpy as np


def diagonal(n):
    return np.arange(n), np.arange(n)


def missing_places(K, support, alpha, beta):
    """Return the places outside a support where K is above the sum of the potentials."""
    held = support.matrix.copy()
    held.data[:] = 1.0
    outside = held.toarray() == 0
    return set(zip(*np.nonzero((alpha[:, None] + beta[None, :] < K) & outside), strict=True))


def places(missing, symmetric):
    """Return the places of missing entries, on both sides of the diagonal if symmetric."""
    pairs = set(zip(missing.rows, missing.columns, strict=True))
    if symmetric:
        assert all(i <= j for i, j in pairs)
        pairs |= {(j, i) for i, j in pairs}
    return pairs
