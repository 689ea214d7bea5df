import numpy as np
import pytest

from dssc.kernels import atoms
from dssc.kernels.reference import atoms as reference


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k", [1, 6, 40])
def test_largest_magnitudes_agree_with_numpy(dtype, k, rng):
    n, m = 25, 30
    products = rng.standard_normal((n, m)).astype(dtype)
    own = rng.integers(0, m, n)
    indptr = np.concatenate([[0], np.cumsum(rng.integers(0, 5, n))])
    indices = rng.integers(0, m, indptr[-1]).astype(np.int32)
    results = []
    for kernels in (atoms, reference):
        values, places = np.empty((n, k), dtype=dtype), np.empty((n, k), dtype=np.int32)
        kernels.largest_magnitudes(products.copy(), own, indptr, indices, values, places)
        order = np.argsort(-values, axis=1, kind="stable")
        results.append([np.take_along_axis(a, order, axis=1) for a in (values, places)])
    for ours, expected in zip(*results, strict=True):
        np.testing.assert_array_equal(ours, expected)
    assert (results[0][1] == -1).any() == (k == 40)


def test_exact_products_agree_with_numpy(rng):
    X, residuals = rng.standard_normal((20, 7)), rng.standard_normal((12, 7))
    places = rng.integers(-1, 20, (12, 5)).astype(np.int32)
    out, expected = np.empty(places.shape), np.empty(places.shape)
    atoms.exact_products(X, residuals, places, out)
    reference.exact_products(X, residuals, places, expected)
    np.testing.assert_allclose(out, expected, atol=1e-14)
    assert not out[places == -1].any()
