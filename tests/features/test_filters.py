import numpy as np
import pytest

from dssc.features.filters import filter_bank, nonzero_weights


def test_wavelets_have_mean_zero():
    bank = filter_bank(32, 32, 3, 8)
    for scale in bank.wavelets:
        assert np.abs(scale[0][:, 0, 0]).max() < 1e-6


@pytest.mark.parametrize("factor", [1, 2, 4])
def test_nonzero_weights_fold_the_filtered_spectrum_of_a_real_image(factor, rng):
    filters = rng.standard_normal((2, 8, 12)).astype(np.float32)
    filters[1, :, 3:] = 0.0
    image = rng.random((8, 12))
    half = np.fft.rfft2(image).ravel()
    weights = nonzero_weights(filters, factor)
    height, width = 8 // factor, 12 // factor
    product = (filters * np.fft.fft2(image)).reshape(2, factor, height, factor, width)
    folded = np.zeros((2, height, width), dtype=complex)
    for f, x in np.ndindex(2, width):
        for e in range(weights.starts[f, x], weights.starts[f, x + 1]):
            source = half[weights.sources[e]]
            number = weights.weights[e] * source.real + 1j * weights.mirrored[e] * source.imag
            folded[f, weights.rows[e], x] += number
    expected = product.sum(axis=(1, 3)) / (height * width)
    np.testing.assert_allclose(folded, expected, atol=1e-5)
    assert len(weights.weights) == np.count_nonzero(filters)
