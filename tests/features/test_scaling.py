import numpy as np
import pytest
from scipy import sparse

from dssc import unit_norm


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_rows_have_norm_one_and_keep_direction_and_dtype(dtype, make, rng):
    X = rng.standard_normal((20, 6)).astype(dtype)
    before = X.copy()
    unit = unit_norm(make(X))
    assert unit.dtype == dtype
    unit = unit.toarray() if sparse.issparse(unit) else unit
    np.testing.assert_allclose(np.linalg.norm(unit, axis=1), 1, rtol=1e-6)
    np.testing.assert_allclose(unit, X / np.linalg.norm(X, axis=1)[:, None], rtol=1e-5)
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e160, 1e300])
def test_extreme_rows_neither_vanish_nor_overflow(scale):
    np.testing.assert_allclose(unit_norm(np.array([[3.0, 4.0]]) * scale), [[0.6, 0.8]])


def test_zero_rows_are_named():
    X = np.ones((15, 2))
    X[[3, 7]] = 0.0
    with pytest.raises(ValueError, match=r"2 zero rows.*: 3, 7; remove them"):
        unit_norm(X)
    with pytest.raises(ValueError, match=r"2 zero rows.*: 3, 7"):
        unit_norm(sparse.csr_array(X))
    with pytest.raises(ValueError, match=r"15 zero rows.* 9, \.\.\."):
        unit_norm(np.zeros((15, 2)))
