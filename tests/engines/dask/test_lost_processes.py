"""Fits whose workers or whose own process are killed."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter

import dask
import dask.array as da
import numpy as np
import pytest

from dssc.engines.dask import factor, workers
from tests.engines.dask.conftest import assert_same_bits, estimator, make_points

pytestmark = pytest.mark.slow

N = 20_000
# Numbers of results of a stage after which two workers are lost.
LOSSES = {"scan": (8, 30), "products": (5, 40), "read": (2,)}
FIT = """
import sys
import dask.array as da, numpy as np
from distributed import Client
from tests.engines.dask.conftest import estimator
if __name__ == "__main__":
    X = da.from_array(np.load(sys.argv[1]))
    if sys.argv[3] == "cluster":
        client = Client(n_workers=2, threads_per_worker=1, dashboard_address=":0")
    estimator(checkpoint=sys.argv[2]).fit(X)
"""


@pytest.fixture(scope="module")
def X():
    return make_points(N)


@pytest.fixture(scope="module")
def expected(X):
    return estimator().fit(X)


@pytest.fixture
def processes(monkeypatch, small_chunks):
    """A cluster of four worker processes, which wait 3 s for lost ones instead of 30."""
    from distributed import Client

    monkeypatch.setattr("dssc._cluster_rows.CHUNK_BYTES", 1 << 18)
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


def logged(path, name, function, *arguments):
    """Return what a function returns, and write down on the worker that it was called."""
    with open(path, "a", encoding="utf-8") as file:
        file.write(f"{name}\n")
    return function(*arguments)


class Losses:
    """Loses two workers after some results of a stage, and counts how often tasks are computed."""

    def __init__(self, lose, client, log):
        self.lose, self.client, self.log = lose, client, log
        self.lost, self.n_runs, self.n_results = [], 0, Counter()

    def two_workers(self):
        """Lose the two workers with the most to do."""
        tasks = self.client.processing()
        for address in sorted(tasks, key=lambda worker: -len(tasks[worker]))[:2]:
            self.lose(self.client, address)
            self.lost.append(address)

    def during(self, stage, run):
        """Return `Workers.run` with losses during a stage."""

        def losing(workers, next_task, **options):
            self.n_runs += 1
            number = self.n_runs

            def next_logged():
                if (task := next_task()) is None:
                    return None
                arguments = self.log, f"{number} {task.name}", task.function, *task.arguments
                return task._replace(function=logged, arguments=arguments)

            for name, result in run(workers, next_logged, **options):
                kind = name.split()[0]
                self.n_results[kind] += 1
                if kind == stage and self.n_results[kind] in LOSSES[stage]:
                    self.two_workers()
                yield name, result

        return losing

    @property
    def most_computed(self):
        """How often a task was computed at most."""
        return max(Counter(self.log.read_text(encoding="utf-8").splitlines()).values())


@pytest.mark.parametrize("lose", [kill, end])
@pytest.mark.parametrize("stage", ["scan", "products", "read"])
def test_workers_lost_during_a_pass_change_nothing(
    stage, lose, X, expected, processes, monkeypatch, tmp_path
):
    losses = Losses(lose, processes, tmp_path / "log")
    monkeypatch.setattr(workers.Workers, "run", losses.during(stage, workers.Workers.run))
    model = estimator().fit(da.from_array(X, chunks=(3000, -1)))
    assert len(losses.lost) == 2 * len(LOSSES[stage])
    allowed = dask.config.get("distributed.scheduler.allowed-failures")
    assert losses.most_computed <= 1 + allowed
    assert_same_bits(model, expected)


def slow_vectors(rows, substitute):
    time.sleep(0.3)
    return factor.vectors_of_chunk(rows, substitute)


@pytest.mark.parametrize("lose", [kill, end])
def test_workers_lost_while_vectors_are_computed_change_nothing(
    lose, X, expected, processes, monkeypatch, tmp_path
):
    losses, make = Losses(lose, processes, tmp_path / "log"), factor.ClusterFactor._vectors

    def lose_soon():
        is_made = "dssc-vectors".__eq__
        while sum(map(is_made, (str(key)[:12] for key in processes.who_has()))) < 3:
            time.sleep(0.05)
        losses.two_workers()

    def losing(*arguments):
        thread = threading.Thread(target=lose_soon)
        thread.start()
        made = make(*arguments)
        thread.join()
        return made

    monkeypatch.setattr(factor, "delayed_vectors", dask.delayed(slow_vectors, pure=False))
    monkeypatch.setattr(factor.ClusterFactor, "_vectors", losing)
    model = estimator().fit(da.from_array(X, chunks=(3000, -1)))
    assert len(losses.lost) == 2
    assert_same_bits(model, expected)


@pytest.mark.parametrize("place", ["here", "cluster"])
def test_a_killed_fit_goes_on_from_its_checkpoint(place, X, expected, tmp_path):
    folder, data = tmp_path / "parts", tmp_path / "X.npy"
    np.save(data, X)
    fit = subprocess.Popen([sys.executable, "-c", FIT, str(data), str(folder), place])
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
    assert model.work_["parts from the checkpoint"] == len(kept)
    assert_same_bits(model, expected)
