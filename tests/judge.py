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
    primal = -np.sum(K * A) + eta2 / 2 * np.sum(A**2)
    dual = -alpha.sum() - beta.sum() - np.sum(np.maximum(slack, 0) ** 2) * eta2 / 2
    n = len(K)
    rounding = 100 * n * EPS * float(np.abs(K).max())
    assert abs(primal - dual) <= 10 * tol * max(1, abs(dual)) + rounding
    assert result.marginal_error <= tol
    assert 0 <= result.gap <= tol


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
    "sparse": lambda rng, n: sparse.random_array((n, n), density=0.05, rng=rng, format="csr"),
    "symmetric sparse": lambda rng, n: _symmetric(
        sparse.random_array((n, n), density=0.05, rng=rng, format="csr")
    ),
    "signed sparse": lambda rng, n: sparse.random_array(
        (n, n), density=0.1, rng=rng, format="csr", data_sampler=rng.standard_normal
    ),
    "hub and spoke": _hub_and_spoke,
    "weakly joined blocks": _weakly_joined_blocks,
    "twelve decades": lambda rng, n: 10.0 ** rng.uniform(-12, 0, (n, n)),
    "symmetric twelve decades": lambda rng, n: _symmetric(10.0 ** rng.uniform(-12, 0, (n, n))),
    "duplicates": _with_duplicates,
    "constant": lambda rng, n: np.full((n, n), 0.7),
    "zero": lambda rng, n: np.zeros((n, n)),
}
