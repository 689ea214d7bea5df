import numpy as np
import pytest
from scipy import sparse

from dssc.kernels import pursuit
from dssc.kernels.reference import pursuit as reference


def empty_state(targets, k):
    n = len(targets)
    return (
        np.empty((n, k, k)),
        np.zeros((n, k), dtype=np.int32),
        np.zeros((n, k)),
        np.zeros(n, dtype=np.int64),
        targets.copy(),
    )


def step(kernels, X, targets, own, damping, prior, rows, state):
    """Take one step with products in float32; return which rows are unfinished."""
    products = state[-1][rows].astype(np.float32) @ X.T.astype(np.float32)
    unfinished = np.empty(len(rows), dtype=bool)
    parts = prior.indptr, prior.indices, prior.data
    errors = np.full(len(rows), 1e-5)
    kernels.pursue(
        X, targets, own, rows, products, errors, damping, *parts, 1e-6, *state, unfinished
    )
    return unfinished


@pytest.mark.parametrize("damping", [0.0, 0.4])
def test_pursue_agrees_with_numpy(damping, rng):
    X = rng.standard_normal((30, 8))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    targets = np.vstack([X[:10], rng.standard_normal((5, 8)), np.zeros((1, 8)), 2 * X[3:4]])
    own = np.concatenate([np.arange(10), np.full(7, -1)])
    prior = sparse.random_array((17, 30), density=0.1, random_state=rng, format="csr")
    states, rows = (empty_state(targets, 5), empty_state(targets, 5)), np.arange(17)
    for _ in range(5):
        unfinished, expected = (
            step(kernels, X, targets, own, damping, prior, rows, state)
            for kernels, state in zip((pursuit, reference), states, strict=True)
        )
        np.testing.assert_array_equal(unfinished, expected)
        for ours, theirs in zip(states[0][1:], states[1][1:], strict=True):
            np.testing.assert_allclose(ours, theirs, atol=1e-11)
        rows = rows[unfinished]
    _, support, _, sizes, _ = states[0]
    assert not any(own[i] in support[i, : sizes[i]] for i in range(17))
    if damping == 0.0:
        assert sizes[15] == 0  # nothing correlates with zero
        assert sizes[16] == 1  # a multiple of one atom


@pytest.mark.parametrize("kernels", [pursuit, reference], ids=["numba", "numpy"])
def test_an_atom_that_depends_on_the_support_is_not_added(kernels, rng):
    X = rng.standard_normal((1, 4))
    X = np.vstack([X, X])
    state = empty_state(X[:1], 2)
    factors, _, _, sizes, _ = state
    factors[0, 0, 0], sizes[0] = np.linalg.norm(X[0]), 1
    prior = sparse.csr_array((1, 2))
    unfinished = step(kernels, X, X[:1], np.array([-1]), 0.0, prior, np.arange(1), state)
    assert not unfinished[0]
    assert sizes[0] == 1
