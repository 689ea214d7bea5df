import numpy as np

from dssc.features.filters import filter_bank


def test_wavelets_have_mean_zero():
    bank = filter_bank(32, 32, 3, 8)
    for scale in bank.wavelets:
        assert np.abs(scale[0][:, 0, 0]).max() < 1e-6
