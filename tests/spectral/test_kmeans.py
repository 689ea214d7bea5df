from functools import partial

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from dssc._threads import block_threads
from dssc.spectral import kmeans
from dssc.spectral.kmeans import Lloyd, first_centers, kmeans_labels, kmeans_runs


def clouds(rng, n, n_clusters, d, noise):
    """Return points around random centers."""
    centers = rng.standard_normal((n_clusters, d))
    noise = noise * rng.standard_normal((n, d))
    return (centers[rng.integers(0, n_clusters, n)] + noise).astype(np.float32)


@pytest.mark.parametrize("noise", [0.3, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_labels_are_those_of_scikit_learn(noise, weighted, rng):
    points = clouds(rng, 500, 8, 6, noise)
    weights = rng.uniform(0.5, 3.0, 500) if weighted else None
    peer = KMeans(8, init=partial(first_centers, weights=weights), n_init=3)
    for seed in range(5):
        expected = peer.set_params(random_state=seed).fit_predict(points, sample_weight=weights)
        labels = kmeans_labels(points, 8, 3, np.random.RandomState(seed), weights)
        np.testing.assert_array_equal(labels, expected)


def test_a_cluster_without_points_takes_the_farthest_one():
    points = np.array([[0.0], [0.1], [5.0], [9.0]])
    with block_threads(1) as in_threads:
        labels, totals = Lloyd(points, 3).run(np.array([[[0.0], [5.0], [100.0]]]), in_threads)
    np.testing.assert_array_equal(labels, [[0, 0, 1, 2]])
    assert totals == pytest.approx([0.005])


def test_too_few_distinct_points_are_named():
    points = np.repeat(np.eye(2), 3, axis=0)
    with pytest.warns(ConvergenceWarning, match="distinct clusters is 2, fewer than n_clusters=3"):
        labels = kmeans_labels(points, 3, 2, np.random.RandomState(0))
    assert len(set(labels)) == 2


def test_threads_change_no_digit(monkeypatch, rng):
    monkeypatch.setattr(kmeans, "BLOCK_POINTS", 64)
    points = clouds(rng, 1000, 5, 4, 1.0)
    centers = points[:15].reshape(3, 5, 4)
    results = []
    for n_threads in (1, 3):
        with block_threads(n_threads) as in_threads:
            results.append(Lloyd(points, 5).run(centers, in_threads))
    np.testing.assert_array_equal(results[0][0], results[1][0])
    np.testing.assert_array_equal(results[0][1], results[1][1])


@pytest.mark.parametrize("weighted", [False, True])
def test_starts_that_run_together_are_those_that_run_alone(weighted, monkeypatch, rng):
    points = clouds(rng, 300, 6, 5, 0.8)
    weights = rng.uniform(0.5, 3.0, 300) if weighted else None
    together = list(kmeans_runs(points, 6, 7, np.random.RandomState(0), weights))
    monkeypatch.setattr(kmeans, "MOST_TOGETHER", 2 * 300)
    in_pairs = list(kmeans_runs(points, 6, 7, np.random.RandomState(0), weights))
    state = np.random.RandomState(0)
    alone = [next(kmeans_runs(points, 6, 1, state, weights)) for _ in range(7)]
    for one, two, three in zip(together, in_pairs, alone, strict=True):
        np.testing.assert_array_equal(one[0], two[0])
        np.testing.assert_array_equal(one[0], three[0])
        assert one[1] == pytest.approx(two[1]) == pytest.approx(three[1])
