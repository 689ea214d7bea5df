import dask.array as da
import numpy as np
import pytest
from scipy import sparse

from dssc._cluster_rows import ClusterRows, copy_to_disk
from dssc.engines.dask.source import check_source


@pytest.mark.parametrize("fetched", [1, 1 << 28])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16])
def test_the_copy_has_the_values_of_all_chunks(dtype, fetched, rng, monkeypatch):
    monkeypatch.setattr("dssc._cluster_rows.FETCHED_BYTES", fetched)
    X = rng.integers(-9, 9, (50, 7)).astype(dtype)
    copy = copy_to_disk(check_source(da.from_array(X, chunks=((20, 0, 25, 5), (3, 4)))))
    assert isinstance(copy, np.memmap)
    assert copy.dtype == (np.float64 if dtype == np.int16 else dtype)
    np.testing.assert_array_equal(copy, X)


def test_one_axis_is_refused():
    with pytest.raises(ValueError, match="X is a Dask array with 1 axis"):
        check_source(da.ones(5))


def test_chunks_of_unknown_size_are_refused():
    X = da.ones((6, 2), chunks=(3, 2))
    with pytest.raises(ValueError, match=r"call X.compute_chunk_sizes\(\) first"):
        check_source(X[X[:, 0] > 0])


def test_sparse_chunks_are_refused():
    X = da.ones((6, 2), chunks=(3, 2)).map_blocks(sparse.csr_matrix)
    with pytest.raises(ValueError, match="the chunks of X are of type csr_matrix"):
        check_source(X)


def test_chunks_without_rows_are_left_out(rng):
    """Choosing rows leaves such chunks."""
    X = rng.standard_normal((50, 7))
    chunked = da.from_array(X, chunks=((0, 20, 0, 30), (3, 4)))
    source = check_source(chunked)
    assert source.chunks == ((20, 30), (7,))
    sums = ClusterRows(source).map_rows(lambda rows: rows.sum(axis=1), "sums")
    np.testing.assert_array_equal(sums, X.sum(axis=1))
    assert len(check_source(chunked[:0])) == 0
