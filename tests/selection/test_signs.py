import numpy as np
import pytest

from dssc import ADSSC, clustering_accuracy, make_union_of_subspaces
from dssc.engines import CpuEngine
from dssc.pipeline import Settings
from dssc.selection.drawn import Drawn
from dssc.selection.neighborhoods import choose_expression
from dssc.selection.signs import are_clusters_opposite


def clouds(n, centers, seed=0):
    """Return points around centers and around their opposites, and where each one belongs."""
    rng = np.random.default_rng(seed)
    centers = np.concatenate([centers, -np.asarray(centers)])
    y = rng.integers(0, len(centers), n)
    return centers[y] + rng.standard_normal((n, centers.shape[1])), y


def is_opposite(X, n_clusters):
    """Return the decision for some points."""
    how = choose_expression(X, n_clusters, signed=False)
    settings = Settings(fading=True)
    sample = Drawn(X, None, len(X), settings, CpuEngine(), np.random.RandomState(0))
    return are_clusters_opposite(sample, how, n_clusters)


@pytest.mark.filterwarnings("ignore:n_clusters=2 was estimated on weak evidence")
@pytest.mark.parametrize("n_clusters", [2, None])
@pytest.mark.parametrize(("d", "size"), [(5, 1.5), (20, 0.45), (50, 0.4)])
def test_clouds_that_mirror_each_other_are_told_apart(n_clusters, d, size):
    X, y = clouds(600, [np.full(d, size)])
    assert choose_expression(X, 2).is_symmetric
    model = ADSSC(n_clusters, random_state=0).fit(X)
    assert model.signed_
    assert "clusters are opposite" in model.explanation_
    assert clustering_accuracy(y, model.labels_) > 0.93


def test_several_clouds_and_their_opposites():
    X, y = clouds(800, 1.5 * np.random.default_rng(1).standard_normal((3, 12)))
    model = ADSSC(6, random_state=0).fit(X)
    assert model.signed_
    assert clustering_accuracy(y, model.labels_) > 0.95


@pytest.mark.parametrize("noise", [0.1, 0.5])
@pytest.mark.parametrize("dimension", [1, 2, 4])
@pytest.mark.parametrize("n_clusters", [5, None])
def test_subspaces_hold_opposites(noise, dimension, n_clusters):
    X, _ = make_union_of_subspaces(
        400, n_subspaces=5, dimension=dimension, n_features=20, noise=noise, random_state=0
    )
    assert choose_expression(X, 5).is_symmetric
    assert not is_opposite(X, n_clusters)


def test_signs_that_are_given_are_used():
    X, _ = clouds(300, [np.full(5, 1.5)])
    for signed in (False, True):
        assert ADSSC(2, signed=signed, random_state=0).fit(X).signed_ == signed
        assert choose_expression(X, 2, signed=signed).signed == signed


def test_beyond_some_size_a_sample_decides(monkeypatch):
    monkeypatch.setattr("dssc.selection.signs.SAMPLE_SIZE", 200)
    X, _ = clouds(1000, [np.full(10, 1.0)])
    assert is_opposite(X, 2)
