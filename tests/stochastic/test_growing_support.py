import numpy as np
import pytest
from scipy import sparse

from dssc.stochastic.dual import GraphDual
from dssc.stochastic.growing_support import solve_with_growing_support
from dssc.stochastic.support import Support

ETA = 0.05


class Bands:
    """A support of the entries near the diagonal of K; implements `GrowingSupport`."""

    def __init__(self, K, width, widest=None, gaps=()):
        self.K, self.width, self.widest = K, width, widest or len(K)
        self.gaps = list(gaps)
        self.distance = np.abs(np.subtract.outer(np.arange(len(K)), np.arange(len(K))))

    def dual(self):
        held = np.where(self.distance <= self.width, self.K, 0.0)
        return GraphDual(Support(sparse.csr_array(held), True).graph, np.ones(len(self.K)))

    def slack(self, w):
        return (self.K - w[:, None] - w) / ETA

    def is_missing_any(self, potentials):
        return bool((self.slack(potentials) > 0)[self.distance > self.width].any())

    def extend(self):
        if self.width >= self.widest:
            return False
        self.width += 1
        return True

    def judge(self, solution):
        return solution.error, self.gaps.pop(0) if self.gaps else 0.0


@pytest.fixture
def K(rng):
    K = rng.random((30, 30)) + 0.1
    return K + K.T


def test_the_support_grows_until_nothing_is_missing(K):
    support = Bands(K, 2)
    proved = solve_with_growing_support(support, ETA, None, 1e-8, 1000)
    assert proved.is_proved
    assert support.width > 2
    A = np.maximum(support.slack(proved.solution.potentials), 0.0)
    np.testing.assert_allclose(A.sum(axis=1), 1.0, atol=1e-8)  # over all entries
    assert proved.n_iter > proved.solution.n_iter  # of all supports together
    assert proved.n_evaluations > proved.solution.n_evaluations


def test_a_support_that_cannot_grow_is_not_proved(K):
    support = Bands(K, 2, widest=4)
    proved = solve_with_growing_support(support, ETA, None, 1e-8, 1000)
    assert not proved.is_proved
    assert support.width == 4


def test_the_most_steps_end_the_loop(K):
    support = Bands(K, 2)
    proved = solve_with_growing_support(support, ETA, None, 1e-8, 3)
    assert proved.n_iter == 3
    assert not proved.is_proved
    assert support.width == 2


def test_a_gap_that_is_too_large_tightens_the_tolerance(K):
    loose = solve_with_growing_support(Bands(K, 30), ETA, None, 1e-2, 1000)
    tight = solve_with_growing_support(Bands(K, 30, gaps=[1.0, 1.0]), ETA, None, 1e-2, 1000)
    assert tight.gap == 0.0
    assert tight.solution.error <= 1e-2 / 200
    assert tight.n_iter >= loose.n_iter
    stubborn = Bands(K, 30, gaps=[1.0] * 20)
    assert solve_with_growing_support(stubborn, ETA, None, 1e-2, 1000).gap == 1.0
    assert len(stubborn.gaps) == 20 - 4  # tol / 2, and that over 10, 100 and 1000
