import numpy as np
import pytest

from dssc import kernels
from dssc._cluster_rows import BATCH, ClusterRows
from dssc.features.by_rows import map_rows


def largest(rows):
    assert len(rows) <= BATCH
    return rows.max(axis=1)


@pytest.mark.parametrize("n_threads", [1, 3])
def test_every_row_has_its_number(n_threads, rng, monkeypatch):
    monkeypatch.setattr(kernels, "python_threads_worth", lambda n_elements: n_threads)
    X = rng.standard_normal((3 * BATCH + 5, 3))
    np.testing.assert_array_equal(map_rows(X, largest, "largest"), X.max(axis=1))


def test_rows_on_a_cluster_are_mapped_there(rng):
    da = pytest.importorskip("dask.array")
    X = rng.standard_normal((70, 3))
    rows = ClusterRows(da.from_array(X, chunks=(40, 3)))
    np.testing.assert_array_equal(map_rows(rows, largest, "largest"), X.max(axis=1))
