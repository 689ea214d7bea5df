"""Data that several tests share, and the obvious similarity matrix."""

import numpy as np
import torch

from dssc._progress import Progress
from dssc.engines.torch.projection_problem import TorchProjectionProblem

QUIET = Progress()


def points(rng, n=700, d=24):
    """Return points near five subspaces of dimension three."""
    bases = rng.standard_normal((5, 3, d))
    X = np.einsum("nk,nkd->nd", rng.standard_normal((n, 3)), bases[np.arange(n) % 5])
    return X + 0.05 * rng.standard_normal((n, d))


def problem_of(X, where, eta1=0.5, signed=False):
    return TorchProjectionProblem(X, eta1, signed, where, QUIET)


def exact_vectors(factor):
    """Return the float64 vectors of a factor, in its order."""
    vectors = torch.empty(
        factor.exact.samples.shape, dtype=torch.float64, device=factor.place.device
    )
    for places, part in factor.exact.parts():
        vectors[places] = part
    return vectors


def exact_similarity(problem):
    """Return K in the factor's order, from its float64 vectors."""
    f = problem.factor
    vectors = exact_vectors(f)
    h = problem.bounds.sizes(vectors @ vectors.T)
    K = h * (f.scales[:, None] + f.scales) / 2
    return K.fill_diagonal_(0.0)


def dense_of(graph, values):
    """Return values at the entries of a graph as a dense matrix."""
    n = graph.n_rows
    out = torch.zeros((n, n), dtype=values.dtype, device=values.device)
    out[graph.rows.long(), graph.columns.long()] = values
    return out
