import numpy as np
import pytest
from scipy import sparse

from dssc._progress import Progress
from dssc.engines.cpu.self_expression import FactoredExpression
from dssc.stochastic import ProjectionProblem, near_pairs
from dssc.stochastic.cluster_slacks import largest_slacks


def by_all_pairs(K, alpha, labels, k):
    slacks = K - alpha[:, None] - alpha
    members = labels[:, None] == np.arange(k)
    return np.array([[slacks[np.ix_(p, q)].max() for q in members.T] for p in members.T])


def points(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def problems(n, seed, form):
    """Return a problem and its K as an array."""
    problem = FactoredExpression(points(n, seed), 0.5, True, False, Progress()).problem
    K = np.array([problem.similarity.at(np.full(n, i), np.arange(n)) for i in range(n)])
    K = np.maximum(K, K.T)
    if form == "sparse":
        K[K < 0.01] = 0.0
    if form != "factored":
        problem = ProjectionProblem.of_matrix(K if form == "array" else sparse.csr_array(K))
    return problem, K


@pytest.mark.parametrize("form", ["array", "sparse", "factored"])
@pytest.mark.parametrize("n", [60, 400])
@pytest.mark.parametrize("most", [128, 8])
def test_no_pair_exceeds_its_bound(form, n, most, monkeypatch):
    monkeypatch.setattr(near_pairs, "MOST_PER_POINT", most)
    problem, K = problems(n, 0, form)
    result = problem.solve(0.01)
    near = problem.near_pairs(result)
    alpha = result.potentials[0]
    assert near.hold_all_positive(alpha)
    held = np.zeros(K.shape, dtype=bool)
    held[near.rows, near.similarities.indices] = True
    assert held.diagonal().all()
    np.testing.assert_allclose(near.similarities.data, K[held], atol=1e-15)
    bounds = near.floors[:, None] + near.floors
    assert np.all(K[~held] <= bounds[~held] + 1e-15)
    labels = np.arange(n) % 4
    slacks = largest_slacks(near, alpha, labels, 4)
    exact = by_all_pairs(K, alpha, labels, 4)
    across = ~np.eye(4, dtype=bool)
    assert np.all(slacks[across] >= exact[across] - 1e-15)
    is_near = slacks > 2 * near.rises(alpha).max()
    assert is_near[across].any() or not held.all()
    np.testing.assert_allclose(slacks[across & is_near], exact[across & is_near], atol=1e-15)


def test_lower_potentials_are_not_covered():
    problem, _ = problems(400, 0, "factored")
    result = problem.solve(0.01)
    near = problem.near_pairs(result)
    assert not near.hold_all_positive(result.potentials[0] - 0.03 * 0.01)
    assert near.hold_all_positive(result.potentials[0] - 0.02 * 0.01)
