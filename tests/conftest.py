import os
from pathlib import Path

import hypothesis
import numba
import numpy as np
import pytest

hypothesis.settings.register_profile("dssc", deadline=None, derandomize=True, max_examples=40)
hypothesis.settings.load_profile("dssc")


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def thread_counts():
    """Return the numbers of threads to compare; afterwards numba has all of its threads again."""
    if numba.config.NUMBA_NUM_THREADS < 2:
        pytest.skip("numba has one thread on this machine")
    yield 1, 2
    numba.set_num_threads(numba.config.NUMBA_NUM_THREADS)


@pytest.fixture(scope="session")
def data_home():
    home = os.environ.get("DSSC_DATA")
    if not home or not Path(home).is_dir():
        pytest.skip("real data: set DSSC_DATA to the folder of prepared files")
    return Path(home)
