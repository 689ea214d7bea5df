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
