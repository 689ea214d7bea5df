import base64
import io

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra.numpy import arrays
from PIL import Image
from scipy import sparse

from dssc.report import count_components, encode_png
from dssc.report.colors import hues
from dssc.report.graph import DENSE_SIZE, as_graph, leading_eigenvalues, share_inside
from dssc.report.members import certainty, extremes, layout, sample
from dssc.report.picture import MOST_PIXELS, draw_affinity
from dssc.report.spectrum import spectrum_picture
from dssc.report.thumbnails import LONGEST_SIDE, make_sheet


@given(arrays(np.uint8, st.sampled_from([(3, 5), (1, 1), (4, 2, 3)])))
def test_png_files_hold_the_image(image):
    with Image.open(io.BytesIO(encode_png(image))) as decoded:
        np.testing.assert_array_equal(np.asarray(decoded), image)


def random_graph(rng, n=40):
    A = np.where(rng.uniform(size=(n, n)) < 0.15, rng.uniform(size=(n, n)), 0.0)
    return A + A.T


@pytest.mark.parametrize("n", [40, DENSE_SIZE + 50])
@pytest.mark.parametrize("n_blocks", [1, 3, 6])
def test_eigenvalues_are_those_of_the_normalised_affinity(rng, n, n_blocks):
    blocks = [random_graph(rng, n // n_blocks) + 1e-3 for _ in range(n_blocks)]
    A = sparse.block_diag(blocks).toarray() + 1e-16
    graph = as_graph(A)
    assert count_components(A) == n_blocks
    scale = 1 / np.sqrt(A.sum(axis=1))
    values, vectors = np.linalg.eigh(A * scale[:, None] * scale)
    found = leading_eigenvalues(graph, vectors[:, ::-1][:, :4], 5)
    np.testing.assert_allclose(found, values[::-1][:9], atol=3e-3)
    np.testing.assert_allclose(
        found[: max(4, n_blocks)], values[::-1][: max(4, n_blocks)], atol=1e-9
    )
    np.testing.assert_allclose(found[:n_blocks], 1.0)


def test_strays_do_not_hide_the_spectrum(rng):
    A = sparse.block_diag([random_graph(rng, DENSE_SIZE), np.eye(3)])
    U = np.zeros((DENSE_SIZE + 3, 2))
    U[:DENSE_SIZE, 0] = 0.05
    found = leading_eigenvalues(as_graph(A), U, 4)
    np.testing.assert_allclose(found[:4], 1.0)
    assert found[4] < 0.99


def test_share_inside_is_the_mass_on_the_own_cluster(rng):
    A, labels = random_graph(rng), rng.integers(0, 3, 40)
    expected = [A[i, labels == labels[i]].sum() / A[i].sum() for i in range(40)]
    np.testing.assert_allclose(share_inside(as_graph(A), labels), expected)


def test_central_and_doubtful_members():
    angles = np.radians([0, 5, 40, 90, 85, 50])
    U, labels = np.stack([np.cos(angles), np.sin(angles)], axis=1), np.array([0, 0, 0, 1, 1, 1])
    own, margin = certainty(U, labels, 2)
    central, doubtful = extremes(own, margin, labels, 2, 1)
    assert [members.tolist() for members in doubtful] == [[2], [5]]
    assert margin[2] == pytest.approx(margin[5])
    assert central[0][0] in (0, 1)


def test_a_sample_has_a_few_of_every_cluster(rng):
    labels = np.repeat([0, 1, 2], [5000, 4000, 12])
    points = sample(labels, 3, 500, rng)
    counts = np.bincount(labels[points])
    assert counts[2] == 10
    assert 500 <= len(points) <= 515
    assert len(np.unique(points)) == len(points)
    np.testing.assert_array_equal(sample(labels, 3, 10**5, rng), np.arange(len(labels)))


@pytest.mark.parametrize("shape", [(7, 1), (30, 4), (80, 2), (80, 5)])
def test_places_are_in_the_unit_square(rng, shape):
    places, _ = layout(rng.standard_normal(shape))
    assert places.shape == (shape[0], 2)
    assert np.isfinite(places).all()
    assert places.min() >= 0
    assert places.max() <= 1


def test_identical_rows_are_drawn_too():
    places, method = layout(np.repeat(np.eye(3), 30, axis=0))
    assert method == "t-SNE"
    assert np.isfinite(places).all()


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
