"""An independent judge of projections, and slow obvious solvers to compare with."""

import numpy as np
from scipy import sparse

EPS = np.finfo(float).eps


def as_dense(K):
    return K.toarray() if sparse.issparse(K) else np.asarray(K, dtype=np.float64)


def floor(K, eta2):
    return EPS * np.abs(as_dense(K)).max() / eta2


def certify(K, eta2, result, tol=1e-8):
    """Assert that the result is what it says, over all n x n entries and in extended precision."""
    K = as_dense(K).astype(np.longdouble)
    A = as_dense(result.plan).astype(np.longdouble)
    alpha, beta = (p.astype(np.longdouble) for p in result.potentials)
    assert np.all(np.isfinite(A))
    assert np.all(A >= 0)
    for axis in (0, 1):
        assert np.abs(A.sum(axis=axis) - 1).max() <= tol
    # A is the unrestricted positive part: no entry was missed, none is off by more than rounding
    # of the numbers it is the difference of.
    slack = (K - alpha[:, None] - beta[None, :]) / eta2
    terms = max(np.abs(K).max(), np.abs(alpha).max(), np.abs(beta).max())
    assert np.abs(np.maximum(slack, 0) - A).max() <= 8 * EPS * terms / eta2 + 1e-12
    rounding = np.count_nonzero((slack > 0) | (A > 0)) * (8 * EPS * terms / eta2) ** 2
    assert relative_gap(slack, A) <= tol + rounding / np.sum(A**2)
    assert result.marginal_error <= tol
    assert 0 <= result.gap <= tol


def relative_gap(slack, A):
    """Return primal less dual at a feasible matrix near A, in units of eta2 |A|^2.

    The plan for K is the plan for ``K - alpha 1' - 1 beta'`` with potentials of zero, so neither
    the scale of K nor anything added to its rows and columns matters.
    """
    B = feasible(A)
    primal = -np.sum(slack * B) + np.sum(B**2) / 2
    dual = -np.sum(np.maximum(slack, 0) ** 2) / 2
    return (primal - dual) / np.sum(A**2)


def feasible(A):
    """Return a doubly stochastic matrix near A: least squares on its pattern, then rank one."""
    n = len(A)
    S = (A > 0).astype(float)
    normal = np.block([[np.diag(S.sum(axis=1)), S], [S.T, np.diag(S.sum(axis=0))]])
    normal += 1e-10 * np.eye(2 * n)  # singular on every piece of the pattern
    B = A
    for _ in range(3):
        missing = np.concatenate([1 - B.sum(axis=1), 1 - B.sum(axis=0)])
        x = np.linalg.solve(normal, missing.astype(float))
        B = np.maximum(B + S * (x[:n, None] + x[None, n:]), 0)
    B = B / np.maximum(B.sum(axis=1), 1)[:, None]
    B = B / np.maximum(B.sum(axis=0), 1)
    rows, columns = (np.maximum(1 - B.sum(axis=axis), 0) for axis in (1, 0))
    return B + np.outer(rows, columns / (columns.sum() or 1))


def dykstra(M, n_sweeps=20000):
    """Project M onto the doubly stochastic matrices by Dykstra's alternating projections."""
    n = len(M)
    ones = np.ones((n, n)) / n
    A = np.array(M, dtype=np.float64)
    correction = np.zeros_like(A)
    for _ in range(n_sweeps):
        # Onto row and column sums of one (an affine set needs no correction) ...
        B = A - A @ ones - ones @ A + ones @ A @ ones + ones
        # ... then onto the nonnegative matrices.
        A_next = np.maximum(B + correction, 0)
        correction = B + correction - A_next
        if np.abs(A_next - A).max() < 1e-15:
            return A_next
        A = A_next
    return A


def random_problem(rng, kind, n):
    """Return a similarity matrix of one of the kinds in KINDS."""
    return KINDS[kind](rng, n)


def _symmetric(K):
    return (K + K.T) / 2


def _hub_and_spoke(rng, n):
    K = np.zeros((n, n))
    n_hubs = max(1, n // 10)
    K[: n - n_hubs, n - n_hubs :] = rng.random((n - n_hubs, n_hubs))
    return _symmetric(K)


def _with_duplicates(rng, n):
    m = n // 10 + 1
    points = rng.integers(0, m, n)
    return rng.random((m, m))[np.ix_(points, points)]


def _weakly_joined_blocks(rng, n):
    blocks = rng.integers(0, max(1, n // 8), n)
    joined = np.where(blocks[:, None] == blocks[None, :], rng.random((n, n)), 0.0)
    return _symmetric(joined + 1e-9 * rng.random((n, n)))


KINDS = {
    "dense": lambda rng, n: rng.random((n, n)),
    "symmetric": lambda rng, n: _symmetric(rng.random((n, n))),
    "signed": lambda rng, n: rng.standard_normal((n, n)),
    "low rank": lambda rng, n: rng.standard_normal((n, 3)) @ rng.standard_normal((3, n)),
    "gram": lambda rng, n: (lambda U: U @ U.T)(rng.standard_normal((n, 3))),
    "ties": lambda rng, n: rng.integers(0, 3, (n, n)).astype(float),
    "symmetric ties": lambda rng, n: _symmetric(rng.integers(0, 3, (n, n)).astype(float)),
    "heavy tails": lambda rng, n: np.exp(4 * rng.standard_normal((n, n))),
    "sparse": lambda rng, n: sparse.random_array(
        (n, n), density=0.05, random_state=rng, format="csr"
    ),
    "symmetric sparse": lambda rng, n: _symmetric(
        sparse.random_array((n, n), density=0.05, random_state=rng, format="csr")
    ),
    "signed sparse": lambda rng, n: sparse.random_array(
        (n, n), density=0.1, random_state=rng, format="csr", data_sampler=rng.standard_normal
    ),
    "hub and spoke": _hub_and_spoke,
    "weakly joined blocks": _weakly_joined_blocks,
    "twelve decades": lambda rng, n: 10.0 ** rng.uniform(-12, 0, (n, n)),
    "symmetric twelve decades": lambda rng, n: _symmetric(10.0 ** rng.uniform(-12, 0, (n, n))),
    "duplicates": _with_duplicates,
    "constant": lambda rng, n: np.full((n, n), 0.7),
    "zero": lambda rng, n: np.zeros((n, n)),
}
