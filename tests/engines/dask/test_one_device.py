"""Dask arrays on one device; here that of the processor."""

import dask.array as da
import numpy as np
import pytest

from dssc.engines.dask import engine as dask_engine
from tests.engines.dask.conftest import assert_same_bits, estimator
from tests.engines.dask.test_engine import chunked

torch = pytest.importorskip("torch")


@pytest.fixture(autouse=True)
def without_client(monkeypatch):
    monkeypatch.setattr(dask_engine, "active_client", lambda: None)


def test_chunks_give_the_bits_of_an_array(X):
    assert_same_bits(estimator(device="torch").fit(chunked(X)), estimator(device="torch").fit(X))


def test_files_give_the_bits_of_an_array(X, tmp_path):
    """A memory map, HDF5 and Zarr, as a GPU reads them: in blocks."""
    h5py, zarr = pytest.importorskip("h5py"), pytest.importorskip("zarr")
    np.save(tmp_path / "X.npy", X)
    with h5py.File(tmp_path / "X.h5", "w") as file:
        file["X"] = X
    zarr.save(tmp_path / "X.zarr", X)
    expected = estimator(device="torch").fit(X)
    with h5py.File(tmp_path / "X.h5") as file:
        for source in (
            np.load(tmp_path / "X.npy", mmap_mode="r"),
            da.from_array(file["X"], chunks=(900, 7)),
            da.from_zarr(str(tmp_path / "X.zarr")),
        ):
            assert_same_bits(estimator(device="torch").fit(source), expected)


def test_a_checkpoint_needs_workers(X, tmp_path):
    with pytest.raises(ValueError, match=r"checkpoint=.* with device='torch' needs workers"):
        estimator(device="torch", checkpoint=tmp_path / "parts").fit(chunked(X))


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_missing_gpu_is_an_error(X):
    with pytest.raises(RuntimeError, match="device='cuda' needs a CUDA GPU"):
        estimator(device="cuda").fit(chunked(X))
