import warnings

import numpy as np
import pytest

from dssc import ADSSC, estimate_n_clusters, make_union_of_subspaces
from tests.graphs import block_diagonal


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("k", "dimension"), [(2, 5), (3, 5), (7, 4), (20, 4)])
def test_independent_subspaces_are_counted(k, dimension, seed):
    X, _ = make_union_of_subspaces(
        50 * k, n_subspaces=k, dimension=dimension, n_features=2 * k * dimension, random_state=seed
    )
    model = ADSSC(None, random_state=0).fit(X)
    assert model.n_clusters_ == k
    assert len(np.unique(model.labels_)) == k
    assert model.cluster_evidence_ >= 1.5
    assert model.eigenvalues_[0] == pytest.approx(1.0)
    assert np.all(np.diff(model.eigenvalues_) <= 0)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("k", "size"), [(12, 50), (6, 200)])
def test_chains_of_points_are_counted_too(k, size, seed):
    # Points of a plane have neighbours in direction only, so that pieces nearly fall apart.
    X, _ = make_union_of_subspaces(
        size * k, n_subspaces=k, dimension=2, n_features=4 * k, random_state=seed
    )
    model = ADSSC(None, random_state=0).fit(X)
    assert model.n_clusters_ == k
    assert model.cluster_evidence_ >= 1.5


def test_without_a_clear_step_random_walks_decide(rng):
    # Groups of very different strength leave no step that stands out.
    k, size = 9, 40
    labels = np.repeat(np.arange(k), size)
    inside = np.linspace(0.15, 0.9, k)[labels]
    odds = np.where(labels[:, None] == labels[None, :], inside[:, None], 0.01)
    graph = np.triu(rng.random(odds.shape) < odds, 1).astype(float)
    count = estimate_n_clusters(graph + graph.T)
    assert abs(count.n_clusters - k) <= 1
    assert not count.is_clear
    assert count.plausible[0] <= k <= count.plausible[1]


def test_more_pieces_than_are_looked_for_are_all_counted():
    graph = block_diagonal([np.ones((4, 4))] * 130 + [np.eye(4) + 0.01])
    assert estimate_n_clusters(graph).n_clusters >= 130


def test_blocks_are_counted_and_strays_are_not():
    blocks = [np.ones((20, 20))] * 4 + [np.ones((1, 1))] * 2
    count = estimate_n_clusters(block_diagonal(blocks))
    assert count.n_clusters == 4
    assert count.is_clear


@pytest.mark.parametrize("seed", range(3))
def test_a_single_cluster_is_not_split_silently(seed):
    X, _ = make_union_of_subspaces(100, n_subspaces=1, dimension=5, random_state=seed)
    with warnings.catch_warnings(record=True) as messages:
        warnings.simplefilter("always")
        model = ADSSC(None, random_state=0).fit(X)
    assert model.n_clusters_ == 1 or any("weak" in str(entry.message) for entry in messages)


def test_fragments_are_no_clusters(rng):
    # A small component beside a large one that consists of groups: two pieces, five clusters.
    groups = np.kron(np.eye(4), np.full((50, 50), 0.3)) + 0.004
    graph = np.triu(rng.random((200, 200)) < groups, 1).astype(float)
    graph = block_diagonal([graph + graph.T, np.ones((30, 30))])
    assert estimate_n_clusters(graph).n_clusters == 5


def test_weak_evidence_is_said():
    angles = np.random.default_rng(0).uniform(0, np.pi, 300)
    X = np.column_stack([np.cos(angles), np.sin(angles)])
    with pytest.warns(UserWarning, match="weak evidence .*numbers from|weak evidence .*support"):
        model = ADSSC(None, random_state=0).fit(X)
    assert model.cluster_evidence_ < 1.5


@pytest.mark.parametrize("n", [1, 2, 3])
def test_tiny_graphs_have_an_answer(n):
    assert 1 <= estimate_n_clusters(np.ones((n, n))).n_clusters <= n


@pytest.mark.parametrize("n", [100, 400])
def test_a_single_cluster_is_never_clear(n, rng):
    graph = np.triu(rng.random((n, n)) < 20 / n, 1).astype(float)
    count = estimate_n_clusters(graph + graph.T)
    assert count.n_clusters == 1
    assert not count.is_clear
    points = np.ones((5, 5)) + np.diag(rng.random(5))
    assert not estimate_n_clusters(points).is_clear


def test_a_single_cluster_comes_with_a_warning(rng):
    X = rng.normal(size=(300, 30)) + 3.0 * rng.normal(size=30)
    with pytest.warns(UserWarning, match="n_clusters=1 was estimated on weak evidence"):
        model = ADSSC(None, random_state=0).fit(X)
    assert model.n_clusters_ == 1


@pytest.mark.parametrize("k", [6, 15])
def test_clusters_with_a_common_mean_are_never_one(k, rng):
    y = rng.integers(0, k, 60 * k)
    X = 0.5 * rng.normal(size=(k, 100))[y] + rng.normal(size=(60 * k, 100))
    X += 2.0 * rng.normal(size=100)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ADSSC(None, random_state=0).fit(X)
    assert model.n_clusters_ == pytest.approx(k, rel=0.2)
