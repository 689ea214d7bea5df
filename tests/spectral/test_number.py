import warnings

import numpy as np
import pytest
from scipy import sparse

from dssc import ADSSC, estimate_n_clusters, make_union_of_subspaces


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("k", "dimension"), [(1, 4), (2, 5), (3, 5), (7, 4), (20, 4)])
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
def test_chains_of_points_are_counted_too(seed):
    # Points of a plane have neighbours in direction only, so that pieces nearly fall apart.
    X, _ = make_union_of_subspaces(
        600, n_subspaces=12, dimension=2, n_features=48, random_state=seed
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "n_clusters=12 was read")
        assert ADSSC(None, random_state=0).fit(X).n_clusters_ == 12


def test_blocks_are_counted_and_strays_are_not():
    blocks = [np.ones((20, 20))] * 4 + [np.ones((1, 1))] * 2
    count = estimate_n_clusters(sparse.block_diag(blocks, format="csr"))
    assert count.n_clusters == 4
    assert count.is_clear


def test_weak_evidence_is_said():
    angles = np.random.default_rng(0).uniform(0, np.pi, 300)
    X = np.column_stack([np.cos(angles), np.sin(angles)])
    with pytest.warns(UserWarning, match="weak evidence"):
        model = ADSSC(None, random_state=0).fit(X)
    assert model.cluster_evidence_ < 1.5


@pytest.mark.parametrize("n", [1, 2, 3])
def test_tiny_graphs_have_an_answer(n):
    assert 1 <= estimate_n_clusters(np.ones((n, n))).n_clusters <= n
