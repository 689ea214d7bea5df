import numpy as np
import pytest
from scipy import sparse

from dssc.graph import as_graph
from dssc.report.affinity_picture import MAX_PIXELS, draw_affinity


def test_a_pixel_for_each_entry_of_a_small_affinity():
    A = np.array([[0, 0, 1.0], [0, 4, 0], [1, 0, 0]])
    picture = draw_affinity(as_graph(A), np.array([1, 0, 1]), 2)
    np.testing.assert_array_equal(picture.order, [1, 0, 2])
    np.testing.assert_array_equal(picture.levels > 0, [[1, 0, 0], [0, 0, 1], [0, 1, 0]])
    assert picture.bounds == pytest.approx([1 / 3, 1], abs=1e-4)


def test_single_entries_of_a_large_affinity_stay_visible():
    n = 10 * MAX_PIXELS
    A = sparse.csr_array(([1.0, 1e-6], ([5, n - 1], [5, 0])), shape=(n, n))
    picture = draw_affinity(as_graph(A), np.zeros(n, dtype=int), 1)
    assert picture.levels.shape == (MAX_PIXELS, MAX_PIXELS)
    assert picture.levels[-1, 0] == picture.levels[0, -1] >= 40
    assert np.count_nonzero(picture.levels) == 3
