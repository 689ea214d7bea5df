import numpy as np
import pytest

from dssc.kernels import scattering
from dssc.kernels.reference import scattering as reference


@pytest.mark.parametrize("factor", [1, 2, 4])
def test_filter_and_fold_agrees_with_numpy(factor, rng):
    transforms = rng.standard_normal((3, 8, 32)).astype(np.float32)
    filters = rng.standard_normal((5, 8, 32)).astype(np.float32)
    filters[0, :, 8:] = filters[1, 0] = 0.0  # strips without weights, also the first
    out, expected = (np.empty((3, 5, 8 // factor, 32 // factor), np.float32) for _ in range(2))
    scattering.filter_and_fold(transforms, filters, factor, out)
    reference.filter_and_fold(transforms, filters, factor, expected)
    np.testing.assert_allclose(out, expected, atol=1e-5)
