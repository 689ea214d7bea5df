import numpy as np
import pytest
from scipy import sparse

from dssc.features import homogeneous, typical_norm


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("scale", [1e-307, 1e-200, 1.0, 1e160, 1e300])
def test_the_height_follows_the_scale_of_the_points(make, scale, rng):
    X = rng.standard_normal((20, 6))
    expected = np.sqrt(np.mean(np.sum(X**2, axis=1)))
    assert typical_norm(make(scale * X)) / scale == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize(("dtype", "largest"), [(np.float64, 1.7e308), (np.float32, 3e38)])
def test_a_height_out_of_range_is_refused(dtype, largest):
    X = np.full((3, 5), largest, dtype=dtype)
    with pytest.raises(ValueError, match=r"max\|X\| = .*; divide X by a common factor"):
        typical_norm(X)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_points_get_one_more_coordinate(make, rng):
    X = rng.standard_normal((4, 3))
    lifted = homogeneous(make(X), 2.5)
    lifted = lifted.toarray() if sparse.issparse(lifted) else lifted
    np.testing.assert_array_equal(lifted, np.column_stack([X, np.full(4, 2.5)]))
