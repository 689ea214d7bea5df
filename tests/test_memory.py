import numpy as np
import pytest

from dssc._memory import forget_peak, peak_bytes


def test_the_peak_is_that_since_it_was_forgotten():
    if peak_bytes() is None:
        pytest.skip("this system does not tell a process its peak")
    large = np.ones(1 << 24)  # 128 MB
    del large
    forget_peak()
    before = peak_bytes()
    medium = np.ones(1 << 23)  # too large for pages that the process has freed and still holds
    grown = peak_bytes() - before
    assert 0.9 * medium.nbytes < grown < 2 * medium.nbytes
