import numpy as np
import pytest
from scipy import sparse

from dssc.stochastic.dual import GraphDual
from dssc.stochastic.support import Support


class Dense:
    """The same dual by obvious NumPy: all entries, and which of them are held."""

    def __init__(self, rng, n=30):
        K = rng.random((n, n))
        held = rng.random((n, n)) < 0.3
        self.K = K + K.T
        self.held = held | held.T | np.eye(n, dtype=bool)
        self.targets = rng.uniform(0.5, 1.5, n)
        self.w = rng.uniform(0.2, 0.8, n)

    def slacks(self):
        return np.where(self.held, self.K - self.w[:, None] - self.w, -np.inf)

    def system(self):
        """Return ``diag(d) + S``, S the pattern of positive slacks, d and a right-hand side."""
        S = (self.slacks() > 0).astype(float)
        diagonal = 1.01 * S.sum(axis=1)
        return np.diag(diagonal) + S, diagonal, self.w - self.targets


@pytest.fixture
def dense(rng):
    return Dense(rng)


@pytest.fixture
def dual(dense):
    graph = Support(sparse.csr_array(np.where(dense.held, dense.K, 0.0)), True).graph
    return GraphDual(graph, dense.targets)


def test_the_problem_is_described(dual, dense):
    held = dense.K[dense.held]
    assert dual.n_vertices == 30
    assert dual.similarity_range() == (held.min(), held.max())
    np.testing.assert_array_equal(dual.zeros(), np.zeros(30))
    assert dual.dot(dense.w, dense.targets) == pytest.approx(dense.w @ dense.targets, rel=1e-14)


def test_slacks_are_those_of_the_matrix(dual, dense):
    # Entries are in the order of the rows, as a mask reads them.
    expected = dense.slacks()[dense.held]
    np.testing.assert_allclose(dual.slacks(dense.w), expected, atol=1e-14)
    assert (expected > 0).any()
    assert (expected < 0).any()


def test_a_relative_dual_has_slacks_for_similarities(dual, dense):
    relative = dual.relative_to(dense.w, 0.3)
    np.testing.assert_allclose(relative.graph.values, dense.slacks()[dense.held] / 0.3, atol=1e-14)
    np.testing.assert_array_equal(relative.targets, dense.targets)
    np.testing.assert_array_equal(dual.graph.values, dense.K[dense.held])  # unchanged


def test_row_sums_and_counts_are_those_of_the_positive_part(dual, dense):
    point = dual.at(dense.w)
    A = np.maximum(dense.slacks(), 0.0)
    np.testing.assert_allclose(point.sums, A.sum(axis=1), rtol=1e-13)
    np.testing.assert_array_equal(point.counts, np.count_nonzero(A, axis=1))
    np.testing.assert_array_equal(point.potentials, dense.w)


def test_thresholds_make_every_row_sum_right(dual, dense):
    thresholds = dual.row_thresholds(dense.w)
    excess = np.where(dense.held, dense.K - thresholds[:, None] - dense.w, -np.inf)
    np.testing.assert_allclose(np.maximum(excess, 0.0).sum(axis=1), dense.targets, rtol=1e-12)


def test_both_linear_solvers_give_the_solution(dual, dense):
    matrix, diagonal, rhs = dense.system()
    expected = np.linalg.solve(matrix, rhs)
    point = dual.at(dense.w)
    solution = dual.conjugate_gradients(point, diagonal, rhs, 1e-13, 500)
    assert solution.residual <= 1e-13
    assert 0 < solution.n_products < 500
    np.testing.assert_allclose(solution.x, expected, rtol=1e-9, atol=1e-11)
    factorised = dual.factorised_solve(point, diagonal, rhs)
    np.testing.assert_allclose(factorised, expected, rtol=1e-10, atol=1e-12)
    unfinished = dual.conjugate_gradients(point, diagonal, rhs, 1e-13, 2)
    assert unfinished.residual > 1e-13
    assert unfinished.n_products == 2


def test_the_dual_is_in_main_memory_already(dual, dense):
    assert dual.on_host() is dual
    assert dual.from_host(dense.w) is dense.w
