import numpy as np
import pytest

from dssc import _sparse
from dssc._sparse import csr_of_parts


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_indices_are_short_where_they_fit(index):
    A = csr_of_parts(np.ones(2), np.array([2, 0], dtype=index), np.array([0, 1, 2]), (2, 3))
    assert A.indices.dtype == A.indptr.dtype == np.int32
    np.testing.assert_array_equal(A.toarray(), [[0, 0, 1], [1, 0, 0]])


def test_indices_are_long_where_they_must(monkeypatch):
    monkeypatch.setattr(_sparse, "LARGEST_SHORT_INDEX", 2)
    A = csr_of_parts(np.ones(2), np.array([2, 0]), np.array([0, 1, 2]), (2, 3))
    assert A.indices.dtype == A.indptr.dtype == np.int64
