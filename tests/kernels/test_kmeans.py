import numpy as np

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
