import numpy as np
import pytest

from dssc.kernels import selection
from dssc.kernels.reference import selection as reference


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k", [1, 2, 7, 40])
def test_top_k_agrees_with_numpy(dtype, k, rng):
    K = rng.standard_normal((40, 40)).astype(dtype)
    K[:, 3] = K[:, 5]
    values, indices = np.empty((40, k), dtype=dtype), np.empty((40, k), dtype=np.int32)
    expected, _ = np.empty((40, k)), np.empty((40, k), dtype=np.int32)
    selection.top_k(K, k, values, indices)
    reference.top_k(K, k, expected, _)
    np.testing.assert_array_equal(np.sort(values, axis=1), np.sort(expected, axis=1))
    np.testing.assert_array_equal(np.take_along_axis(K, indices.astype(int), axis=1), values)


@pytest.mark.parametrize("kernels", [selection, reference], ids=["numba", "numpy"])
@pytest.mark.parametrize("shape", [(40, 40), (7, 150), (150, 7)])
def test_top_k_of_columns_is_that_of_the_rows_of_the_transpose(kernels, shape, rng):
    K = rng.standard_normal(shape)
    values, indices = np.empty((shape[1], 5)), np.empty((shape[1], 5), dtype=np.int32)
    kernels.top_k_columns(K, 5, values, indices)
    np.testing.assert_array_equal(np.sort(values), np.sort(K.T, axis=1)[:, -5:])
    np.testing.assert_array_equal(np.take_along_axis(K.T, indices.astype(int), axis=1), values)
