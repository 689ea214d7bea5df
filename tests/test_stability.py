import numpy as np
import pytest

from dssc import ADSSC, make_union_of_subspaces
from dssc.stability import best_overlaps, resample_size


def test_overlaps_by_hand():
    labels, others = np.array([0, 0, 0, 1, 1]), np.array([1, 1, 0, 0, 0])
    overlaps, best = best_overlaps(labels, others, 3)
    np.testing.assert_allclose(overlaps, [2 / 3, 2 / 3, np.nan])
    assert best[:2].tolist() == [1, 0]


def test_names_of_clusters_do_not_matter():
    rng = np.random.default_rng(0)
    labels, others = rng.integers(0, 4, (2, 50))
    renamed = np.array([2, 0, 3, 1])[others]
    one, two = (best_overlaps(labels, some, 4)[0] for some in (others, renamed))
    np.testing.assert_array_equal(one, two)


def test_half_of_the_points_are_drawn_within_limits():
    assert resample_size(300, 3) == 150
    assert resample_size(70_000, 10) == 1500
    assert resample_size(70_000, 100) == 2000
    assert resample_size(10, 5) == 6


def test_clean_unions_are_stable_and_noise_is_as_stable_as_chance():
    X, _ = make_union_of_subspaces(120, n_subspaces=3, random_state=0)
    clean = ADSSC(3, random_state=0).fit(X).stability()
    np.testing.assert_allclose(clean.clusters, 1.0)
    assert clean.mean == pytest.approx(1.0)
    assert np.nanmin(clean.points) == 1.0
    noise = np.random.default_rng(0).normal(size=(120, 10))
    stability = ADSSC(4, eta1=1.0, n_neighbors=12, random_state=0).fit(noise).stability(3)
    assert stability.mean < stability.chance + 0.05


def test_points_are_those_of_all_samples():
    X, _ = make_union_of_subspaces(60, n_subspaces=2, random_state=0)
    X = np.vstack([X[:5], X, np.full((1, X.shape[1]), np.nan)])
    model = ADSSC(2, invalid_rows="label", random_state=0).fit(X)
    points = model.stability(3).points
    assert points.shape == (66,)
    np.testing.assert_array_equal(points[:5], points[5:10])
    assert np.isnan(points[-1])


def test_other_numbers_of_neighbours_keep_clear_clusters():
    X, _ = make_union_of_subspaces(240, n_subspaces=3, random_state=0)
    found = ADSSC(3, random_state=0).fit(X).stability(2)
    assert found.other_neighbors.shape == (2, 3)
    np.testing.assert_allclose(found.other_neighbors, 1.0)
    noise = np.random.default_rng(0).normal(size=(240, 10))
    found = ADSSC(4, eta1=1.0, n_neighbors=12, random_state=0).fit(noise).stability(2)
    assert np.mean(found.other_neighbors) < 0.6


@pytest.mark.parametrize("few_features", [0, 30])
def test_skewed_features_are_as_stable_as_independent_ones(monkeypatch, few_features):
    """Independent skewed features gather in some directions, which sums of points do not show."""
    monkeypatch.setattr("dssc.stability.FEW_FEATURES", few_features)
    X = np.random.default_rng(3).exponential(size=(400, 2)) - 1
    model = ADSSC(2, eta1=np.inf, n_neighbors=12, signed=False, random_state=0).fit(X)
    stability = model.stability()
    assert stability.mean > 0.8
    assert (stability.mean < stability.chance) == (few_features == 30)


def test_margins_say_how_far_a_point_is_from_another_cluster():
    X, _ = make_union_of_subspaces(120, n_subspaces=2, noise=0.5, random_state=0)
    model = ADSSC(2, eta1=0.1, n_neighbors=20, random_state=0).fit(X)
    margins = model.stability(1).margins
    A = model.affinity_matrix_.toarray()
    np.fill_diagonal(A, 0.0)
    own = np.where(model.labels_[:, None] == model.labels_, A, 0.0).sum(axis=1)
    np.testing.assert_allclose(margins, (2 * own - A.sum(axis=1)) / A.sum(axis=1), atol=1e-12)
    np.testing.assert_allclose(margins, 2 * model.confidence_ - 1, atol=1e-12)


def test_too_few_points_say_so():
    X, _ = make_union_of_subspaces(10, n_subspaces=5, random_state=0)
    with pytest.raises(ValueError, match="10 distinct points are too few for 5 clusters"):
        ADSSC(5, random_state=0).fit(X).stability()
    with pytest.raises(ValueError, match="n_resamples=0"):
        ADSSC(2, random_state=0).fit(X).stability(0)
