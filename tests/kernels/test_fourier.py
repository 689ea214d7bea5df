import numpy as np
import pytest

from dssc.features.fourier import fourier_plan
from dssc.kernels import fourier
from dssc.kernels.fourier import WIDTH
from dssc.kernels.reference import fourier as reference


# Every radix first, last and alone; odd and even numbers of passes.
@pytest.mark.parametrize("n", [2, 3, 4, 6, 7, 8, 10, 12, 16, 24, 25, 32, 40, 48, 64, 80, 96, 105])
def test_transform_agrees_with_numpy(n, rng):
    line = rng.standard_normal((n, WIDTH)).astype(np.float32)
    plan, expected = fourier_plan(n), np.empty_like(line)
    reference.transform(line, plan, expected)
    found = fourier.transform(line.copy(), plan, np.empty_like(line))
    np.testing.assert_allclose(found, expected, atol=1e-6 * n**0.5)
