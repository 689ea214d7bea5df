import time

import numpy as np
import pytest

from dssc.cli.exits import CommandError
from dssc.cli.reading import separate_process
from dssc.cli.reading.dispatch import read_samples
from tests.cli.mutations import hdf5_files, mutated


def test_a_file_that_makes_its_reader_run_in_circles(tmp_path, monkeypatch):
    pytest.importorskip("h5py")
    X = np.random.default_rng(0).integers(1, 9, (12, 4)).astype(np.float64)
    # Reading it takes forever with HDF5 1.14.
    content = mutated(hdf5_files(X)[0][1], np.random.default_rng([31, 60]))
    (tmp_path / "circle.h5").write_bytes(content)
    monkeypatch.setattr(separate_process, "START_SECONDS", 1)
    monkeypatch.setattr(separate_process, "BYTES_PER_SECOND", 1 << 62)
    start = time.monotonic()
    with pytest.raises(CommandError, match="not a readable HDF5 file: its structure is damaged"):
        read_samples(tmp_path / "circle.h5")
    assert time.monotonic() - start < 100


def test_a_process_that_waits_forever_is_ended(tmp_path, monkeypatch):
    (tmp_path / "X.h5").write_bytes(b"\x89HDF")
    # Sleeping takes no processor time, the limit of which Windows lacks.
    monkeypatch.setattr(separate_process, "__name__", "timeit")
    monkeypatch.setattr(separate_process, "START_SECONDS", 1)
    monkeypatch.setattr(separate_process, "BYTES_PER_SECOND", 1 << 62)
    monkeypatch.setattr(separate_process, "PATIENCE", 2)
    start = time.monotonic()
    with pytest.raises(CommandError, match="its structure is damaged"):
        separate_process.read_separately(
            tmp_path / "X.h5", "HDF5 file", "import time; time.sleep(60)"
        )
    assert 1 < time.monotonic() - start < 40


@pytest.mark.parametrize("error", [OSError, ValueError])
def test_a_system_that_refuses_limits_reads_files_without_them(error, tmp_path, monkeypatch):
    resource = pytest.importorskip("resource")
    h5py = pytest.importorskip("h5py")

    def refuse(kind, limits):
        raise error("current limit exceeds maximum limit")

    monkeypatch.setattr(resource, "setrlimit", refuse)
    with h5py.File(tmp_path / "X.h5", "w") as file:
        file["X"] = np.eye(3)
    arguments = {"path": str(tmp_path / "X.h5"), "limit": 1 << 20}
    outcome = separate_process.load("hdf5", arguments, 20)
    assert not isinstance(outcome, Exception), outcome
