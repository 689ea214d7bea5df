import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from dssc import assign_labels
from dssc.engines.torch import kmeans
from dssc.engines.torch.kmeans import device_labels


def test_k_means_is_as_good_as_scikit_learn_s(where, rng):
    centers = rng.standard_normal((6, 4))
    U = centers[rng.integers(0, 6, 900)] + 0.15 * rng.standard_normal((900, 4))
    labels = device_labels(U, 6, 10, None, np.random.RandomState(0), where)
    unit = U / np.linalg.norm(U, axis=1, keepdims=True)
    reference = KMeans(6, n_init=10, random_state=0).fit(unit)
    means = np.stack([unit[labels == k].mean(axis=0) for k in range(6)])
    assert np.sum((unit - means[labels]) ** 2) <= 1.01 * reference.inertia_
    assert adjusted_rand_score(labels, assign_labels(U, 6, random_state=0)) > 0.95


def test_the_same_seed_gives_the_same_labels(where, rng):
    U = rng.standard_normal((500, 3))
    first, second = (
        device_labels(U, 4, 3, None, np.random.RandomState(5), where) for _ in range(2)
    )
    np.testing.assert_array_equal(first, second)


def test_distances_may_be_computed_in_pieces(where, rng, monkeypatch):
    centers = rng.standard_normal((6, 4))
    U = centers[rng.integers(0, 6, 900)] + 0.15 * rng.standard_normal((900, 4))
    labels = []
    for most in (kmeans.MOST_DISTANCES, 6 * 10 * 77):
        monkeypatch.setattr(kmeans, "MOST_DISTANCES", most)
        labels.append(device_labels(U, 6, 10, None, np.random.RandomState(0), where))
    assert adjusted_rand_score(*labels) == 1.0  # runs that are equally good have other numbers


def test_too_few_nonzero_rows_are_refused(where):
    U = np.zeros((20, 2))
    U[0] = 1.0
    with pytest.raises(ValueError, match="1 nonzero rows"):
        device_labels(U, 2, 3, None, np.random.RandomState(0), where)
