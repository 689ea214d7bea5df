import numpy as np
import pytest

from dssc.features.filters import nonzero_weights
from dssc.features.fourier import fourier_plan
from dssc.kernels import scattering
from dssc.kernels.fourier import LANES, WIDTH
from dssc.kernels.reference import scattering as reference


def float32(*shape):
    return np.full(shape, np.nan, dtype=np.float32)


@pytest.mark.parametrize(("height", "width"), [(12, 20), (4, 6), (24, 9)])
def test_half_spectrum_agrees_with_numpy(height, width, rng):
    image = rng.random((height, width, LANES)).astype(np.float32)
    plans = fourier_plan(height), fourier_plan(width)
    lines = float32(24, WIDTH), float32(24, WIDTH)
    out, expected = (float32(height, width // 2 + 1, WIDTH) for _ in range(2))
    scattering.half_spectrum(image, *plans, lines, out)
    reference.half_spectrum(image, *plans, lines, expected)
    np.testing.assert_allclose(out, expected, atol=2e-6 * expected.max())


@pytest.mark.parametrize("factor", [1, 2, 4])
def test_filtered_moduli_agree_with_numpy(factor, rng):
    filters = rng.standard_normal((3, 16, 24)).astype(np.float32)
    filters[0, :, 8:] = filters[1] = 0.0  # columns without weights, and a filter
    weights = nonzero_weights(filters, factor)
    height, width = 16 // factor, 24 // factor
    spectrum = rng.standard_normal((16 * 13, WIDTH)).astype(np.float32)
    plans = fourier_plan(height), fourier_plan(width)
    lines = float32(24, WIDTH), float32(24, WIDTH)
    work = float32(height, width, WIDTH)
    out, expected = (float32(3, height, width, LANES) for _ in range(2))
    scattering.filtered_moduli(spectrum, weights, *plans, lines, work, out)
    reference.filtered_moduli(spectrum, weights, *plans, lines, work, expected)
    np.testing.assert_allclose(out, expected, atol=2e-6 * expected.max())


def test_smooth_agrees_with_numpy(rng):
    maps = rng.random((3, 8, 12, LANES)).astype(np.float32)
    by_column, by_row = rng.random((8, 2)), rng.random((12, 3))
    matrices = by_column.astype(np.float32), by_row.astype(np.float32)
    out, expected = (float32(3, 2, 3, LANES) for _ in range(2))
    scattering.smooth(maps, *matrices, float32(3, LANES), out)
    reference.smooth(maps, *matrices, float32(3, LANES), expected)
    np.testing.assert_allclose(out, expected, rtol=3e-6)
