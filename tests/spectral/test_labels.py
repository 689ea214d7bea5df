import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import kmeans_plusplus
from sklearn.metrics import adjusted_rand_score
from sklearn.utils import check_random_state

from dssc import assign_labels, clustering_accuracy, unit_norm
from dssc.spectral.kmeans import kmeans_seeds
from tests.spectral.inputs import blocks, cluster

pytestmark = pytest.mark.filterwarnings("error")


@pytest.mark.parametrize("method", ["kmeans", "cluster_qr"])
def test_noisy_blocks_are_found(method):
    W, y = blocks(150, 100, 200, noise=0.1)
    assert clustering_accuracy(y, cluster(W, 3, method=method)) == 1.0


@pytest.mark.parametrize("method", ["kmeans", "cluster_qr"])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_as_many_components_as_clusters_are_the_clusters(make, method):
    W, y = blocks(300, 150, 40, 2, 1)
    assert clustering_accuracy(y, cluster(make(W), 5, method=method)) == 1.0


@pytest.mark.parametrize("n", [1, 2, 3])
def test_tiny_problems(n):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for k in range(1, n + 1):
            labels = cluster(np.ones((n, n)) + np.eye(n), k)
            assert labels.shape == (n,)
            assert set(labels) <= set(range(k))
    assert sorted(cluster(np.eye(n), n)) == list(range(n))


def test_deterministic_for_a_seed_and_invariant_to_order(rng):
    W, _ = blocks(250, 250, 100, noise=0.3)
    order = rng.permutation(600)
    np.testing.assert_array_equal(cluster(W, 3), cluster(W, 3))
    assert clustering_accuracy(cluster(W, 3)[order], cluster(W[np.ix_(order, order)], 3)) == 1.0


@pytest.mark.parametrize("n_clusters", [1, 2, 9])
def test_first_centers_are_those_of_k_means_plus_plus(rng, n_clusters):
    points = rng.standard_normal((80, 5))
    for seed in range(5):
        _, expected = kmeans_plusplus(points, n_clusters, random_state=seed)
        seeds = kmeans_seeds(points, n_clusters, check_random_state(seed))
        np.testing.assert_array_equal(seeds, expected)
    assert len(kmeans_seeds(np.ones((4, 2)), 3, check_random_state(0))) == 3


def test_equals_stay_equal_when_rounding_tells_them_apart(rng):
    """Points of one component have one direction; which of them is a seed must not be chance."""
    points = np.repeat(unit_norm(rng.standard_normal((30, 12))), 40, axis=0)
    other = points + 1e-9 * rng.standard_normal(points.shape)
    for seed in range(20):
        one, two = (kmeans_seeds(x, 30, np.random.RandomState(seed)) for x in (points, other))
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: assign_labels(np.eye(3), 2, method="magic"), "method='magic'"),
        (lambda: assign_labels(np.eye(3), 2, method="cluster_qr"), "n_components=3 equal"),
        (lambda: assign_labels(np.eye(3), 4), "n_clusters=4"),
        (lambda: assign_labels(np.diag([1.0, 0, 0]), 2), "1 nonzero rows, fewer than"),
    ],
)
def test_bad_input_is_explained(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_weights_move_the_clusters():
    angles = np.radians([0.0, 40.0, 90.0])
    U = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    plain = assign_labels(U, 2, random_state=0)
    assert plain[0] == plain[1] != plain[2]
    heavy = assign_labels(U, 2, random_state=0, sample_weight=[100.0, 100.0, 1.0])
    assert heavy[0] != heavy[1] == heavy[2]


def test_weights_are_copies_to_kmeans_and_to_its_seeds(rng):
    U, counts = rng.standard_normal((60, 3)), rng.integers(1, 5, 60)
    weighted = assign_labels(U, 4, n_init=50, random_state=0, sample_weight=counts)
    copies = assign_labels(np.repeat(U, counts, axis=0), 4, n_init=50, random_state=0)
    assert adjusted_rand_score(np.repeat(weighted, counts), copies) == pytest.approx(1.0)
    drawn = [
        kmeans_seeds(U, 1, np.random.RandomState(seed), np.eye(60)[7] + 1e-12)[0]
        for seed in range(5)
    ]
    assert drawn == [7] * 5


def test_a_point_without_a_row_goes_where_most_weight_is():
    U = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    S = np.array([[0, 0, 0, 0.0], [0, 0, 0, 0.9], [0, 0, 0, 0.5], [0.0, 0.9, 0.5, 0]])
    labels = assign_labels(U, 2, similarity=S, random_state=0)
    assert labels[3] == labels[2]  # means of 0.45 and 0.5
    labels = assign_labels(U, 2, similarity=S, random_state=0, sample_weight=[1.0, 3.0, 1.0, 1.0])
    assert labels[3] == labels[1]  # means of 0.675 and 0.5
