import matplotlib
import numpy as np
import pytest
from scipy import sparse

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from dssc.plotting import MOST_PIXELS, plot_affinity


@pytest.fixture
def ax():
    figure, ax = plt.subplots()
    yield ax
    plt.close(figure)


def test_points_are_grouped_by_label(ax):
    A = np.array([[0, 0, 1], [0, 2, 0], [3, 0, 0]])
    plot_affinity(sparse.csr_array(A), ["b", "a", "b"], ax=ax, title="A")
    np.testing.assert_array_equal(ax.images[0].get_array(), [[2, 0, 0], [0, 0, 1], [0, 3, 0]])
    assert ax.get_title() == "A"
    assert len(ax.lines) == 2


def test_single_entries_of_a_large_matrix_stay_visible(ax):
    n = 5 * MOST_PIXELS
    A = sparse.csr_array(([-1.0], ([n - 2], [3])), shape=(n, n))
    plot_affinity(A, ax=ax)
    pixels = ax.images[0].get_array()
    assert pixels.shape == (MOST_PIXELS, MOST_PIXELS)
    assert pixels[-1, 0] == pixels.sum() == 1.0


def test_an_empty_affinity_is_drawn(ax):
    plot_affinity(np.zeros((3, 3)), ax=ax)
