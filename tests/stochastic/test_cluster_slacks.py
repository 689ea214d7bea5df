import numpy as np
import pytest
from scipy import sparse

from dssc._progress import Progress
from dssc.engines.cpu.self_expression import FactoredExpression
from dssc.stochastic import ProjectionProblem
from dssc.stochastic.cluster_slacks import largest_slacks, places_in_rows


def by_all_pairs(K, alpha, labels, k):
    slacks = K - alpha[:, None] - alpha
    members = labels[:, None] == np.arange(k)
    return np.array([[slacks[np.ix_(p, q)].max() for q in members.T] for p in members.T])


def example(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X, rng.permutation(np.arange(n) % 4)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("seed", range(3))
def test_slacks_are_those_of_all_pairs(form, seed):
    X, labels = example(60, seed)
    K = np.abs(X @ X.T) * (np.abs(X @ X.T) > 0.3)
    np.fill_diagonal(K, 0.0)
    K = (K + K.T) / 2
    alpha = np.random.default_rng(seed).uniform(0.0, 0.3, 60)
    problem = ProjectionProblem.of_matrix(form(K))
    slacks = largest_slacks(problem.similarity, alpha, labels, 4, 0.1)
    across = ~np.eye(4, dtype=bool)
    np.testing.assert_allclose(slacks[across], by_all_pairs(K, alpha, labels, 4)[across])


@pytest.mark.parametrize("seed", range(3))
def test_factored_slacks_are_exact_down_to_a_margin(seed):
    X, labels = example(300, seed)
    expression = FactoredExpression(X, 0.5, True, False, Progress())
    problem = expression.problem
    alpha = problem.solve(0.01).potentials[0]
    K = np.array([problem.similarity.at(np.full(300, i), np.arange(300)) for i in range(300)])
    slacks = largest_slacks(problem.similarity, alpha, labels, 4, 0.01)
    exact = np.maximum(by_all_pairs(K, alpha, labels, 4), -0.05 * 0.01)
    across = ~np.eye(4, dtype=bool)
    np.testing.assert_allclose(slacks[across], exact[across], atol=1e-15)


@pytest.mark.parametrize("form", ["array", "sparse", "factored"])
def test_places_in_rows_miss_no_positive_slack(form):
    X, _ = example(300, 0)
    problem = FactoredExpression(X, 0.5, True, False, Progress()).problem
    alpha = problem.solve(0.01).potentials[0] - 1e-4
    K = np.array([problem.similarity.at(np.full(300, i), np.arange(300)) for i in range(300)])
    K = np.maximum(K, K.T)
    if form != "factored":
        problem = ProjectionProblem.of_matrix(K if form == "array" else sparse.csr_array(K))
    rows = np.arange(300) % 7 == 0
    found = places_in_rows(problem.similarity, rows, alpha)
    pairs = {(i, j) for r, c in found for i, j in zip(r.tolist(), c.tolist(), strict=True)}
    wanted = np.argwhere((alpha[:, None] + alpha < K) & rows[:, None]).tolist()
    assert len(wanted) > 50
    assert all((i, j) in pairs or (j, i) in pairs for i, j in wanted)
