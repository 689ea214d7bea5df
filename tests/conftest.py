import os
from pathlib import Path

# Workers of `pytest -n` share the cores: each computes on one thread, which libraries must know
# before they are loaded. Tests that compare numbers of threads ask numba for two themselves.
PARALLEL_TESTS = "PYTEST_XDIST_WORKER" in os.environ
if PARALLEL_TESTS:
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")

import hypothesis  # noqa: E402
import numba  # noqa: E402
import numpy as np  # noqa: E402
import pytest  # noqa: E402

if PARALLEL_TESTS:
    numba.set_num_threads(1)

hypothesis.settings.register_profile("dssc", deadline=None, derandomize=True, max_examples=40)
hypothesis.settings.load_profile("dssc")


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def thread_counts(monkeypatch):
    """Return the numbers of threads to compare; afterwards numba has its usual threads again."""
    if numba.config.NUMBA_NUM_THREADS < 2:
        pytest.skip("numba has one thread on this machine")
    monkeypatch.setattr("dssc.kernels.compiling.ELEMENTS_PER_THREAD", 1)  # small arrays, too
    usual = numba.get_num_threads()
    yield 1, 2
    numba.set_num_threads(usual)


@pytest.fixture(scope="session")
def data_home():
    home = os.environ.get("DSSC_DATA")
    if not home or not Path(home).is_dir():
        pytest.skip("real data: set DSSC_DATA to the folder of prepared files")
    return Path(home)
