import numpy as np
import pytest

from dssc.kernels import kmeans
from dssc.kernels.reference import kmeans as reference


def test_nearest_centers_agree_with_numpy(rng):
    points, centers = rng.standard_normal((200, 5)), rng.standard_normal((7, 5))
    weights = rng.uniform(0.5, 2.0, 200)
    products, halves = points @ centers.T, (centers**2).sum(axis=1) / 2
    before = rng.integers(0, 7, 200).astype(np.int32)
    results = []
    for kernels in (kmeans, reference):
        labels, sums, sizes = before.copy(), np.zeros((7, 5)), np.zeros(7)
        arrays = points, weights, labels, sums, sizes
        n_changed = kernels.nearest_centers(products, halves, *arrays)
        results.append((n_changed, labels, sums, sizes))
    for one, two in zip(*results, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-12, atol=1e-12)
    distances = ((points[:, None] - centers) ** 2).sum(axis=2)
    np.testing.assert_array_equal(results[0][1], distances.argmin(axis=1))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_moved_centers_agree_with_numpy(rng, dtype):
    before = rng.standard_normal((7, 5)).astype(dtype)
    sums, sizes = rng.standard_normal((7, 5)), rng.integers(1, 9, 7).astype(float)
    sums[2], sizes[2] = 0.0, 0.0  # an empty cluster
    results = []
    for kernels in (kmeans, reference):
        centers = before.copy()
        results.append((kernels.move_centers(centers, sums, sizes), centers))
    np.testing.assert_allclose(results[0][0], results[1][0], rtol=1e-6)
    np.testing.assert_array_equal(results[0][1], results[1][1])
    np.testing.assert_allclose(results[0][1][0], sums[0] / sizes[0], rtol=1e-6)
    np.testing.assert_array_equal(results[0][1][2], 0.0)


def test_the_best_candidate_agrees_with_numpy(rng):
    points = rng.standard_normal((200, 5))
    weights, squares = rng.uniform(0.5, 2.0, 200), (points**2).sum(axis=1)
    first, candidates = points[3], np.array([10, 20, 30, 40])
    before = ((points - first) ** 2).sum(axis=1)
    results = []
    for kernels in (kmeans, reference):
        nearest, heights = before.copy(), np.zeros(200)
        products = points[candidates] @ points.T
        arrays = products, squares, candidates, weights, 1e-9, nearest, heights
        results.append((kernels.best_candidate(*arrays), nearest, heights))
    for one, two in zip(*results, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-12, atol=1e-12)
    distances = ((points[:, None] - points[candidates]) ** 2).sum(axis=2)
    left = np.minimum(distances, before[:, None])
    assert results[0][0] == (weights @ left).argmin()
    np.testing.assert_allclose(results[0][1], left[:, results[0][0]], rtol=1e-10, atol=1e-10)


def test_of_equal_candidates_the_first_is_taken():
    points = np.repeat(np.eye(3), 2, axis=0)
    for kernels in (kmeans, reference):
        candidates = np.array([5, 4, 2])
        products, squares = points[candidates] @ points.T, np.ones(6)
        nearest, heights = np.full(6, np.inf), np.zeros(6)
        arrays = products, squares, candidates, np.ones(6), 1e-9, nearest, heights
        assert kernels.best_candidate(*arrays) == 0
        np.testing.assert_array_equal(nearest, [2, 2, 2, 2, 0, 0])
