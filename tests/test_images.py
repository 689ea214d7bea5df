import numpy as np
import pytest

from dssc.images import resize_images


def test_halving_averages_two_pixels_by_hand():
    image = np.array([[[0.0, 2.0, 4.0, 10.0]]])
    np.testing.assert_allclose(resize_images(image, (1, 2)), [[[1.0, 7.0]]])


def test_a_third_takes_the_middle_pixel_without_smoothing():
    image = np.arange(9.0).reshape(1, 1, 9) ** 2
    np.testing.assert_allclose(resize_images(image, (1, 3)), [[[1.0, 16.0, 49.0]]])


def test_a_quarter_sees_only_the_two_middle_pixels():
    image = np.array([[[9.0, 1.0, 2.0, 9.0]]])
    np.testing.assert_allclose(resize_images(image, (1, 1)), [[[1.5]]])


def test_doubling_holds_the_border_and_interpolates_inside():
    image = np.array([[[0.0, 4.0]]])
    np.testing.assert_allclose(resize_images(image, (1, 4)), [[[0.0, 1.0, 3.0, 4.0]]])


def test_seven_eighths_by_hand():
    # Centres of 8 pixels over 7: (i + 1/2) 7/8 - 1/2 = -.0625, .8125, 1.6875, ..., 6.0625.
    image = np.arange(7.0).reshape(1, 7, 1)
    expected = [0.0, 0.8125, 1.6875, 2.5625, 3.4375, 4.3125, 5.1875, 6.0]
    np.testing.assert_allclose(resize_images(image, (8, 1))[0, :, 0], expected)


def test_rows_and_columns_are_independent_and_channels_are_kept(rng):
    images = rng.random((2, 6, 9, 3))
    both = resize_images(images, (4, 5))
    assert both.shape == (2, 4, 5, 3)
    np.testing.assert_allclose(both[..., 1], resize_images(images[..., 1], (4, 5)))
    np.testing.assert_allclose(both, resize_images(resize_images(images, (4, 9)), (4, 5)))


def test_the_same_size_changes_nothing_and_types_are_kept(rng):
    images = rng.integers(0, 256, (2, 5, 5), dtype=np.uint8)
    np.testing.assert_array_equal(resize_images(images, (5, 5)), images)
    assert resize_images(images, (3, 3)).dtype == np.float64
    assert resize_images(images.astype(np.float32), (3, 3)).dtype == np.float32


@pytest.mark.parametrize(
    ("images", "shape", "message"),
    [
        (np.zeros((4, 4)), (2, 2), r"shape is \(4, 4\)"),
        (np.zeros((0, 4, 4)), (2, 2), "not be empty"),
        (np.zeros((1, 4, 4)), (0, 2), r"shape=\(0, 2\)"),
    ],
)
def test_bad_input_is_explained(images, shape, message):
    with pytest.raises(ValueError, match=message):
        resize_images(images, shape)
