"""Fits whose workers or whose own process are killed."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter

import dask
import dask.array as da
import numpy as np
import pytest

from dssc.engines.dask import workers
from dssc.stochastic.scan_parts import find_candidates_alone
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
def processes(monkeypatch):
    """A cluster of four worker processes, which wait 3 s for lost ones instead of 30."""
    from distributed import Client

    monkeypatch.setenv("DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT", "3s")

    with (
        dask.config.set({"distributed.comm.timeouts.connect": "3s"}),
        Client(n_workers=4, threads_per_worker=1, dashboard_address=":0") as client,
    ):
        client.wait_for_workers(4)
        yield client


def kill(client, address):
    how = getattr(signal, "SIGKILL", signal.SIGTERM)  # which kills at once on Windows
    os.kill(client.run(os.getpid, workers=[address])[address], how)


def end(client, address):
    client.run(os._exit, 1, workers=[address], wait=False, on_error="ignore")


def test_four_processes_give_the_same_bits(X, expected, processes):
    assert_same_bits(estimator().fit(da.from_array(X, chunks=(3000, -1))), expected)


@pytest.mark.parametrize("lose", [kill, end])
def test_workers_lost_during_two_phases_change_nothing(
    lose, X, expected, processes, monkeypatch, tmp_path
):
    run, phases, lost, log = workers.WorkerRunner.__call__, [], [], tmp_path / "log"

    def losing(self, parts, points, signed):
        phases.append(self.search)
        for i, (part, result) in enumerate(run(self, parts, points, signed)):
            if i == 0 and len(phases) in (3, 6):
                tasks = self.client.processing()
                for address in sorted(tasks, key=lambda worker: -len(tasks[worker]))[:2]:
                    lose(self.client, address)
                    lost.append(address)
            yield part, result

    def logging(meetings, *arguments):
        with open(log, "a", encoding="utf-8") as file:
            file.write(f"{meetings[0]}\n")
        return find_candidates_alone(meetings, *arguments)

    monkeypatch.setattr(workers.WorkerRunner, "__call__", losing)
    monkeypatch.setattr(workers, "find_candidates_alone", logging)
    model = estimator().fit(da.from_array(X, chunks=(3000, -1)))
    assert len(lost) == 4
    assert_same_bits(model, expected)
    n_computed = Counter(log.read_text(encoding="utf-8").splitlines())
    allowed = 1 + dask.config.get("distributed.scheduler.allowed-failures")
    assert max(n_computed.values()) <= allowed * len(set(phases))


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
