"""Models that are large, without the time of a fit."""

from types import SimpleNamespace

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator


def large_model(n, k, neighbours=12):
    """A fitted model of blocks, without the fit."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, k, n)
    members = [np.flatnonzero(labels == c) for c in range(k)]
    rows = np.repeat(np.arange(n), neighbours)
    columns = np.concatenate([rng.choice(members[c], neighbours) for c in labels])
    stray = rng.uniform(size=len(rows)) < 0.02
    columns[stray] = rng.integers(0, n, stray.sum())
    A = sparse.csr_array((np.full(len(rows), 1 / neighbours), (rows, columns)), shape=(n, n))
    U = np.eye(k)[labels] + 0.2 * rng.standard_normal((n, k))
    certificate = SimpleNamespace(marginal_error=0.0, gap=0.0, converged=True, status="converged")
    model = BaseEstimator()
    vars(model).update(
        labels_=labels, affinity_matrix_=A, embedding_=U, n_clusters=k, n_clusters_=k,
        n_features_in_=9, timings_={}, projection_=certificate, eta2_=0.1,
        confidence_=rng.uniform(size=n),
    )  # fmt: skip
    return model
