import base64
import io

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra.numpy import arrays
from PIL import Image
from scipy import sparse

from dssc.graph import as_graph
from dssc.report import encode_png
from dssc.report.colors import hues
from dssc.report.picture import MOST_PIXELS, draw_affinity
from dssc.report.spectrum import spectrum_picture
from dssc.report.thumbnails import LONGEST_SIDE, make_sheet


@given(arrays(np.uint8, st.sampled_from([(3, 5), (1, 1), (4, 2, 3)])))
def test_png_files_hold_the_image(image):
    with Image.open(io.BytesIO(encode_png(image))) as decoded:
        np.testing.assert_array_equal(np.asarray(decoded), image)


def test_a_pixel_for_each_entry_of_a_small_affinity():
    A = np.array([[0, 0, 1.0], [0, 4, 0], [1, 0, 0]])
    picture = draw_affinity(as_graph(A), np.array([1, 0, 1]), 2)
    np.testing.assert_array_equal(picture.order, [1, 0, 2])
    np.testing.assert_array_equal(picture.levels > 0, [[1, 0, 0], [0, 0, 1], [0, 1, 0]])
    assert picture.bounds == pytest.approx([1 / 3, 1], abs=1e-4)


def test_single_entries_of_a_large_affinity_stay_visible():
    n = 10 * MOST_PIXELS
    A = sparse.csr_array(([1.0, 1e-6], ([5, n - 1], [5, 0])), shape=(n, n))
    picture = draw_affinity(as_graph(A), np.zeros(n, dtype=int), 1)
    assert picture.levels.shape == (MOST_PIXELS, MOST_PIXELS)
    assert picture.levels[-1, 0] == picture.levels[0, -1] >= 40
    assert np.count_nonzero(picture.levels) == 3


def test_thumbnails_lie_where_the_sheet_says():
    images = np.stack([np.full((60, 30), value, dtype=np.uint8) for value in range(0, 250, 10)])
    sheet = make_sheet(images, np.array([3, 20, 7, 3]))
    assert (sheet.height, sheet.width) == (LONGEST_SIDE, LONGEST_SIDE // 2)
    page = np.asarray(Image.open(io.BytesIO(base64.b64decode(sheet.address[22:]))))
    for point in (3, 7, 20):
        row, column = divmod(sheet.places[point], sheet.columns)
        assert page[row * sheet.height + 1, column * sheet.width + 1] == 10 * point


def test_images_of_any_range_become_bytes():
    images = np.linspace(-3.0, 5.0, 2 * 4 * 4).reshape(2, 4, 4)
    sheet = make_sheet(images, np.arange(2))
    page = np.asarray(Image.open(io.BytesIO(base64.b64decode(sheet.address[22:]))))
    assert (page.min(), page.max()) == (0, 255)


@given(st.integers(1, 200))
def test_clusters_have_colours_of_their_own(k):
    assert len({round(hue * k / 360) for hue in hues(k)}) == k


@pytest.mark.parametrize("values", [[1.0, 1.0, 1.0], [1.0, 0.999999, 0.9], [0.5, -0.7], [1.0]])
def test_any_spectrum_can_be_drawn(values):
    picture = spectrum_picture(np.array(values), 2)
    assert picture.count("<circle") == len(values)
    assert "nan" not in picture
