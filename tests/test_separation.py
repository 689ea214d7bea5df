import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dssc import ADSSC, make_union_of_subspaces, project_doubly_stochastic
from dssc.separation import prove_separation
from dssc.stochastic import ProjectionProblem
from tests.exact_projection import exact_projection


def separation_of(K, eta2, labels, k):
    problem = ProjectionProblem.of_matrix(K)
    result = problem.solve(eta2)
    near = problem.near_pairs(result)
    return prove_separation(near, eta2, result.potentials[0], labels, k, np.arange(len(K)))


def judged(K, eta2):
    """Return the projection in extended precision, which judges itself, and its error."""
    start = project_doubly_stochastic(K, eta2).potentials[0]
    return exact_projection(K, eta2, start, n_steps=10)


def random_blocks(seed):
    """Return similarities with blocks, some of them pairs of points, at any strength of noise."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 5))
    labels = np.repeat(np.arange(k), rng.integers(1, 7, k))
    noise = rng.choice([0.0, 0.1, 0.3, 0.6])
    K = (labels[:, None] == labels) * rng.uniform(0.2, 1.0, (len(labels),) * 2)
    K += noise * rng.uniform(size=K.shape)
    K += K.T.copy()
    np.fill_diagonal(K, 0.0)
    return K, 10.0 ** rng.uniform(-2, 1), labels, k


def across(A, labels, k):
    """Return the largest entry of A between each two clusters, and their sum."""
    members = labels[:, None] == np.arange(k)
    largest = np.array([[A[np.ix_(p, q)].max() for q in members.T] for p in members.T])
    return largest, members.T @ A @ members


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_proofs_are_true_in_extended_precision(seed):
    K, eta2, labels, k = random_blocks(seed)
    separation = separation_of(K, eta2, labels, k)
    A, error = judged(K, eta2)
    largest, mass = across(A, labels, k)
    if error < 1e-15:
        assert not np.any(separation.proved & (largest > 0) & ~np.eye(k, dtype=bool))
    np.testing.assert_allclose(separation.mass, mass.astype(float), atol=1e-7 + error * len(K))


def test_most_true_separations_are_proved():
    n_true = n_proved = 0
    for seed in range(40):
        K, eta2, labels, k = random_blocks(seed)
        largest = across(judged(K, eta2)[0], labels, k)[0]
        pairs = np.triu_indices(k, 1)
        n_true += np.count_nonzero(largest[pairs] == 0)
        n_proved += np.count_nonzero(separation_of(K, eta2, labels, k).proved[pairs])
    assert n_true > 20
    assert n_proved > 0.95 * n_true


def test_a_margin_is_what_similarities_may_grow_by():
    labels, eta2 = np.repeat([0, 1], [6, 8]), 0.5
    K = (labels[:, None] == labels) * np.random.default_rng(0).uniform(0.5, 1.0, (14, 14))
    K += K.T.copy()
    margin = separation_of(K, eta2, labels, 2).margins[0, 1]
    assert margin > 0
    first, second = np.flatnonzero(labels == 0), np.flatnonzero(labels == 1)
    for share, joined in ((0.99, False), (1.01, True)):
        raised = K.copy()
        raised[np.ix_(first, second)] += share * margin * eta2
        raised[np.ix_(second, first)] += share * margin * eta2
        assert (across(judged(raised, eta2)[0], labels, 2)[0][0, 1] > 0) == joined


def test_points_that_join_clusters_are_named():
    X, _ = make_union_of_subspaces(60, n_subspaces=2, noise=0.5, random_state=0)
    model = ADSSC(2, eta1=0.1, n_neighbors=20, random_state=0).fit(X)
    separation = model.separation()
    assert not separation.proved[0, 1]
    assert separation.touching() == [(0, 1)]
    pairs = separation.pairs(0, 1)
    assert all(model.labels_[i] == 0 and model.labels_[j] == 1 for i, j, _ in pairs)
    assert [pair.affinity for pair in pairs] == pytest.approx(
        [model.affinity_matrix_[i, j] for i, j, _ in pairs]
    )
    assert sum(pair.affinity for pair in pairs) == pytest.approx(separation.mass[0, 1])
    assert separation.pairs(0, 1, count=1) == pairs[:1]


def test_clean_unions_are_proved_and_random_labels_are_not():
    X, _ = make_union_of_subspaces(300, n_subspaces=4, random_state=0)
    separation = ADSSC(4, random_state=0).fit(X).separation()
    assert separation.n_proved == separation.n_pairs == 6
    assert separation.isolated.all()
    assert str(separation).startswith("6 of 6 pairs of clusters are proved separate")
    noise = np.random.default_rng(0).normal(size=(300, 10))
    assert ADSSC(4, eta1=1.0, n_neighbors=12, random_state=0).fit(noise).separation().n_proved == 0


@pytest.mark.parametrize("device", ["cpu", "torch"])
def test_matrix_free_agrees_with_dense(monkeypatch, device):
    X, _ = make_union_of_subspaces(400, n_subspaces=4, noise=0.25, random_state=0)
    parameters = {"n_clusters": 4, "eta1": 0.5, "eta2": 0.02, "random_state": 0}
    dense = ADSSC(**parameters).fit(X).separation()
    monkeypatch.setattr("dssc.engines.cpu.engine.MATRIX_FREE_FROM", 100)
    monkeypatch.setattr("dssc.estimators.adssc.MATRIX_FREE_FROM", 100)
    if device == "torch":
        pytest.importorskip("torch")
    model = ADSSC(**parameters, device=device).fit(X)
    monkeypatch.setattr(model, "_near_pairs_again", None)  # nothing may be computed again
    free = model.separation()
    assert 0 < dense.n_proved < dense.n_pairs
    np.testing.assert_array_equal(free.proved, dense.proved)
    np.testing.assert_allclose(free.mass, dense.mass, atol=1e-6)
    capped = np.where(np.isinf(dense.margins), np.inf, np.minimum(dense.margins, 0.05))
    found = np.where(np.isinf(free.margins), np.inf, np.minimum(free.margins, 0.05))
    np.testing.assert_allclose(found, capped, atol=1e-2 if device == "torch" else 1e-5)


def test_a_pickled_model_has_the_same_separation(monkeypatch):
    monkeypatch.setattr("dssc.engines.cpu.engine.MATRIX_FREE_FROM", 100)
    monkeypatch.setattr("dssc.estimators.adssc.MATRIX_FREE_FROM", 100)
    X, _ = make_union_of_subspaces(400, n_subspaces=4, noise=0.4, random_state=0)
    model = ADSSC(4, eta1=0.5, n_neighbors=8, random_state=0).fit(X)
    again = pickle.loads(pickle.dumps(model)).separation()
    np.testing.assert_array_equal(again.margins, model.separation().margins)


def test_copies_and_labels_of_samples():
    X, _ = make_union_of_subspaces(60, n_subspaces=2, noise=0.3, random_state=0)
    separation = ADSSC(2, random_state=0).fit(np.vstack([X[:10], X])).separation()
    assert separation.samples.max() == 69
    assert len(separation.samples) == 60


def test_what_cannot_be_judged_says_so():
    X, _ = make_union_of_subspaces(60, n_subspaces=2, random_state=0)
    with pytest.raises(ValueError, match="symmetric=True"):
        ADSSC(2, symmetric=False, random_state=0).fit(X).separation()
    with pytest.raises(ValueError, match="ask for fewer"):
        ADSSC(3, random_state=0).fit(np.repeat(X[:3], 5, axis=0)).separation()
    with pytest.raises(ValueError, match="cluster 7 must be a number from 0 to 1"):
        ADSSC(2, random_state=0).fit(X).separation().pairs(0, 7)
