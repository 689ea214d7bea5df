import numpy as np
import pytest

from dssc import make_deformed_digits
from dssc.datasets.deformed import iterate_deformed_digits


@pytest.fixture
def source(rng):
    images = np.zeros((5, 28, 28), dtype=np.uint8)
    for digit, image in enumerate(images):
        image[8:20, 6 + 3 * digit : 9 + 3 * digit] = 200
    return images, np.arange(5)


def test_labels_go_with_their_images(source):
    images, labels = make_deformed_digits(500, source=source, random_state=0)
    assert images.shape == (500, 28, 28)
    assert images.dtype == np.uint8
    centres = (images.sum(axis=1) @ np.arange(28)) / images.sum(axis=(1, 2))
    for digit in range(5):
        mean = centres[labels == digit].mean()
        assert mean == pytest.approx(7 + 3 * digit, abs=0.5)


def test_no_deformation_gives_the_images_back(source):
    images, labels = make_deformed_digits(50, source=source, affine=0, elastic=0, random_state=0)
    np.testing.assert_array_equal(images, source[0][labels])


def test_deformations_are_small_and_differ(source):
    images, labels = make_deformed_digits(300, source=source, random_state=0)
    same = images[labels == 2].astype(float)
    assert len(np.unique(same.reshape(len(same), -1), axis=0)) == len(same)
    overlap = np.minimum(same, source[0][2]).sum(axis=(1, 2)) / source[0][2].sum()
    assert 0.5 < overlap.mean() < 0.99


def test_repeatable_and_a_longer_draw_starts_the_same(source):
    one, _ = make_deformed_digits(1200, source=source, random_state=3)
    two, _ = make_deformed_digits(1700, source=source, random_state=3)
    np.testing.assert_array_equal(one, two[:1200])
    other, _ = make_deformed_digits(1200, source=source, random_state=4)
    assert not np.array_equal(one, other)


def test_blocks_are_streamed(source):
    blocks = iterate_deformed_digits(2500, source=source, random_state=0)
    assert [len(images) for images, _ in blocks] == [1000, 1000, 500]


@pytest.mark.parametrize(
    ("n", "change", "message"),
    [
        (0, {}, "n_samples=0"),
        (5, {"source": (np.zeros((3, 28)), np.zeros(3))}, r"got shapes \(3, 28\)"),
        (5, {"source": (np.zeros((3, 28, 28)), np.zeros(2))}, "n labels"),
        (5, {"affine": -1.0}, r"affine=-1\.0"),
        (5, {"elastic": np.inf}, "elastic=inf"),
    ],
)
def test_bad_input_is_explained(n, change, message, source):
    with pytest.raises(ValueError, match=message):
        make_deformed_digits(n, **{"source": source, **change})
