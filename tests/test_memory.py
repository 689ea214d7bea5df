import subprocess
import sys

import pytest

from dssc._memory import peak_bytes

# In a process of its own: what other tests left behind may be collected at any moment.
MEASUREMENT = """
import numpy as np
from dssc._memory import reset_peak, peak_bytes
large = np.ones(1 << 24)  # 128 MB
del large
reset_peak()
before = peak_bytes()
medium = np.ones(1 << 23)
print(before, peak_bytes() - before)
"""


def test_the_peak_is_that_since_the_reset():
    if peak_bytes() is None:
        pytest.skip("this system does not report peak memory")
    command = [sys.executable, "-c", MEASUREMENT]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    before, grown = map(int, done.stdout.split())
    size = 8 << 23
    assert before < 2 * size  # the large array does not count
    assert 0.9 * size < grown < 2 * size
