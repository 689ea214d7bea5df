"""A fit whose workers may use less memory than the vectors that pass through them."""

import os
import sys

import dask
import dask.array as da
import numpy as np
import pytest

from dssc._memory import STATUS
from tests.engines.dask.conftest import assert_same_bits, estimator, make_points

N, D = 20_000, 1500
# Bytes that a worker may use beyond its libraries.
EXTRA = 160 << 20
# Dask keeps this many bytes of results in memory, and writes others to disk.
KEPT = 50_000_000
MEMORY = {
    "distributed.worker.memory.target": 0.05,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
}


def rows(path, start, stop):
    return np.load(path, mmap_mode="r")[start:stop]


def chunked(path, size=2000):
    parts = [dask.delayed(rows)(path, i, i + size) for i in range(0, N, size)]
    return da.concatenate([da.from_delayed(part, (size, D), np.float32) for part in parts])


def used_bytes():
    with open(STATUS, encoding="utf-8") as lines:
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmData:"))


def limit_memory():
    import resource

    limit = used_bytes() + EXTRA
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def can_hold(n_bytes):
    try:
        np.ones(n_bytes, dtype=np.uint8)
    except MemoryError:
        return False
    return True


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit on a process's memory")
def test_workers_need_less_memory_than_all_vectors_take(tmp_path):
    from distributed import Client

    X = make_points(N, D).astype(np.float32)
    np.save(tmp_path / "X.npy", X)
    with (
        dask.config.set(MEMORY),
        Client(
            n_workers=2,
            threads_per_worker=1,
            memory_limit=KEPT * 20,
            local_directory=tmp_path,
            dashboard_address=":0",
        ) as client,
    ):
        estimator().fit(da.from_array(make_points(3000, 50)))  # loads libraries and compiled code
        client.run(limit_memory)
        processes = client.run(os.getpid)
        vectors = 2 * 4 * N * D
        assert not any(client.run(can_hold, vectors).values())
        ours = estimator().fit(chunked(str(tmp_path / "X.npy")))
        assert client.run(os.getpid) == processes  # none was replaced
    assert_same_bits(ours, estimator().fit(X))
