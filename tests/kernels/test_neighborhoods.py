import numpy as np
import pytest

from dssc.kernels import neighborhoods
from dssc.kernels.reference import neighborhoods as reference


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("count", [1, 3, 8])
def test_strongest_neighbors_agree_with_numpy(signed, count, rng):
    products = rng.standard_normal((30, 50)).astype(np.float32)
    products[:, 7] = products[:, 9]
    scales = rng.uniform(1.0, 3.0, 50).astype(np.float32)
    rows = rng.choice(50, 30, replace=False)
    found, expected = np.empty((2, 30, count), dtype=np.int64)
    for kernels, out in ((neighborhoods, found), (reference, expected)):
        kernels.strongest_neighbors(products, scales[rows], scales, rows, signed, out)
    np.testing.assert_array_equal(found, expected)
    assert not np.any(found == rows[:, None])


@pytest.mark.parametrize("n_features", [2, 5, 40])
@pytest.mark.parametrize("dimension", [1, 4, 30])
def test_distances_agree_with_eigenvectors(n_features, dimension, rng):
    X = rng.standard_normal((60, n_features))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    points = rng.permutation(60)[:20]
    sets = np.sort(rng.integers(0, 60, (20, 12)), axis=1)
    sets[0], sets[1] = points[0], points[0]  # no members, and one
    sets[2], sets[3] = np.sort([*points[2:3], *range(11)]), np.arange(12)
    found, expected = np.empty((2, 20))
    for kernels, out in ((neighborhoods, found), (reference, expected)):
        kernels.distances_from_leading_directions(X @ X.T, points, sets, dimension, 1e-6, out)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    assert found[0] == 1.0


def test_distances_from_orthogonal_and_equal_members():
    """Matrices that are diagonal or of rank one from the start."""
    X = np.concatenate([np.eye(6), np.repeat([[0.6, 0.8, 0, 0, 0, 0]], 4, axis=0)])
    points, sets = np.array([6, 0]), np.array([[0, 1, 2, 3], [6, 7, 8, 9]])
    out = np.empty(2)
    neighborhoods.distances_from_leading_directions(X @ X.T, points, sets, 4, 1e-6, out)
    np.testing.assert_allclose(out, [0.0, 0.64], atol=1e-14)
