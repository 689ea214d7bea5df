"""Fits whose workers or whose own process are killed."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter

import dask.array as da
import numpy as np
import pytest

from dssc.engines.dask import workers
from tests.engines.dask.conftest import assert_same_bits, estimator, make_points

pytestmark = pytest.mark.slow

N = 20_000
FIT = """
import sys
import dask.array as da, numpy as np
from tests.engines.dask.conftest import estimator
if __name__ == "__main__":
    X = np.load(sys.argv[1])
    estimator(checkpoint=sys.argv[2]).fit(da.from_array(X))
"""


@pytest.fixture(scope="module")
def X():
    return make_points(N)


@pytest.fixture(scope="module")
def expected(X):
    return estimator().fit(X)


@pytest.fixture
def processes():
    """A cluster of four worker processes."""
    from distributed import Client

    with Client(n_workers=4, threads_per_worker=1, dashboard_address=":0") as client:
        client.wait_for_workers(4)
        yield client


def kill(client, address):
    os.kill(client.run(os.getpid, workers=[address])[address], signal.SIGKILL)


def end(client, address):
    client.run(os._exit, 1, workers=[address], wait=False, on_error="ignore")


def test_four_processes_give_the_same_bits(X, expected, processes):
    assert_same_bits(estimator().fit(da.from_array(X, chunks=(3000, -1))), expected)


@pytest.mark.parametrize("lose", [kill, end])
def test_workers_lost_during_two_phases_change_nothing(lose, X, expected, processes, monkeypatch):
    run, n_phases, lost, computed = workers.WorkerRunner.__call__, [], [], Counter()

    def losing(self, parts, points, signed):
        n_phases.append(len(parts))
        for i, (part, result) in enumerate(run(self, parts, points, signed)):
            computed[part.name] += 1
            if i == 0 and len(n_phases) in (3, 6):
                busy = [address for address, tasks in self.client.processing().items() if tasks]
                for address in busy[:2]:
                    lose(self.client, address)
                    lost.append(address)
            yield part, result

    monkeypatch.setattr(workers.WorkerRunner, "__call__", losing)
    model = estimator().fit(da.from_array(X, chunks=(3000, -1)))
    assert len(lost) == 4
    assert_same_bits(model, expected)
    assert set(computed.values()) == {1}


def test_a_killed_fit_goes_on_from_its_checkpoint(X, expected, tmp_path):
    folder, data = tmp_path / "parts", tmp_path / "X.npy"
    np.save(data, X)
    fit = subprocess.Popen([sys.executable, "-c", FIT, str(data), str(folder)])
    try:
        while fit.poll() is None and len(list(folder.rglob("*.part"))) < 20:
            time.sleep(0.002)
    finally:
        fit.kill()
        fit.wait()
    kept = {path: path.stat().st_mtime_ns for path in folder.rglob("*.part")}
    model = estimator(checkpoint=folder).fit(da.from_array(X))
    parts = {path: path.stat().st_mtime_ns for path in folder.rglob("*.part")}
    assert 20 <= len(kept) < len(parts)
    assert kept.items() <= parts.items()  # what was stored is not computed again
    assert_same_bits(model, expected)
