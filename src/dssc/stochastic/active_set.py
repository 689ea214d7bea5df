"""The paper's Algorithm 2 as written: a growing support with L-BFGS inside."""

from functools import partial

import numpy as np
from scipy import sparse
from sklearn.utils import gen_batches

from dssc import kernels
from dssc._typing import Array
from dssc.result import ProjectionResult
from dssc.stochastic.lbfgs import maximise
from dssc.stochastic.outcome import dense_result
from dssc.stochastic.similarity import Places, Potentials
from dssc.stochastic.support import Graph, Support, pattern_at, pattern_of

# Entries of each row in the first support.
FIRST_NEIGHBORS = 64
# Random permutations in the first support, which make it feasible.
N_PERMUTATIONS = 5
# Rows of the unrestricted A that are computed at once.
BLOCK = 256


def solve(
    K: Array, eta2: float, *, tol: float, max_iter: int, start: Potentials | None = None
) -> ProjectionResult:
    """Solve (support_dual) by L-BFGS and grow the support until the unrestricted A is optimal.

    The first support holds the largest entries of each row and a few random permutations, always
    the same ones, so that the result is repeatable. By Lemma 1, A without the restriction is
    optimal once it is doubly stochastic, here within `tol`; until then its positive entries join
    the support. `max_iter` bounds the iterations of L-BFGS over all supports.
    """
    n = len(K)
    M = K / eta2
    support = _first_support(K)
    x = np.zeros(2 * n) if start is None else np.concatenate(start) / eta2
    n_iter = n_evaluations = 0
    while True:
        scaled = support.graph._replace(values=support.graph.values / eta2)
        evaluate = partial(_restricted_dual, scaled)
        x, steps, evaluations = maximise(evaluate, x, tol / 2, max_iter - n_iter)
        n_iter += steps
        n_evaluations += evaluations + 1
        rows, columns, error = _positive_places(M, x)
        if error <= tol or n_iter >= max_iter:
            break
        grown = _with_values(pattern_of(support.matrix) + pattern_at(rows, columns, K.shape), K)
        if grown.matrix.nnz == support.matrix.nnz and steps == 0:
            break  # L-BFGS cannot improve further in float64
        support = grown
    A = np.maximum(M - x[:n, None] - x[None, n:], 0.0)
    potentials = eta2 * x[:n], eta2 * x[n:]
    return dense_result(K, A, potentials, eta2, tol=tol, n_iter=n_iter, n_evaluations=n_evaluations)


def _restricted_dual(graph: Graph, x: Array) -> tuple[float, Array]:
    """Return the negative of (support_dual) in units of eta2, and its gradient."""
    sums, squares = np.empty_like(x), np.empty_like(x)
    counts = np.empty(len(x), dtype=np.int64)
    kernels.row_sums(*graph, x, sums, squares, counts)
    return x.sum() + squares.sum() / 4, 1.0 - sums


def _first_support(K: Array) -> Support:
    n = len(K)
    n_kept = min(FIRST_NEIGHBORS, n)
    columns = np.argpartition(-K, n_kept - 1, axis=1)[:, :n_kept]
    rng = np.random.default_rng(0)
    permutations = [rng.permutation(n) for _ in range(N_PERMUTATIONS)]
    rows = np.concatenate([np.repeat(np.arange(n), n_kept), *[np.arange(n)] * N_PERMUTATIONS])
    columns = np.concatenate([columns.ravel(), *permutations])
    return _with_values(pattern_at(rows, columns, K.shape), K)


def _with_values(pattern: sparse.csr_array, K: Array) -> Support:
    pattern.sort_indices()
    rows, columns = pattern.nonzero()
    return Support.of(rows, columns, K[rows, columns], K.shape, symmetric=False)


def _positive_places(M: Array, x: Array) -> tuple[Array, Array, float]:
    """Return where the unrestricted A is positive, and its marginal error."""
    n = len(M)
    row_sums, column_sums = np.empty(n), np.zeros(n)
    places: list[Places] = []
    for block in gen_batches(n, BLOCK):
        A = np.maximum(M[block] - x[:n][block, None] - x[None, n:], 0.0)
        row_sums[block] = A.sum(axis=1)
        column_sums += A.sum(axis=0)
        rows, columns = np.nonzero(A)
        places.append((rows + block.start, columns))
    rows, columns = (np.concatenate(parts) for parts in zip(*places, strict=True))
    error = max(np.abs(row_sums - 1).max(), np.abs(column_sums - 1).max())
    return rows, columns, error
