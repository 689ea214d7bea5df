import itertools
from pathlib import Path

import numpy as np
import pytest

from dssc import scattering_features

REFERENCE = Path(__file__).parents[1] / "data" / "scattering_reference.npz"


def test_agrees_with_the_reference_transform():
    """The coefficients of four images by kymatio 0.3.0, J = 3, L = 8, order 2."""
    with np.load(REFERENCE, allow_pickle=False) as reference:
        features = scattering_features(reference["images"], normalize=False)
        expected = reference["coefficients"]
    np.testing.assert_allclose(features.reshape(expected.shape), expected, atol=1e-5)
    assert features.dtype == np.float32


def periodic_gabor(shape, sigma, angle, frequency, slant):
    """Sample a Gabor function on a periodic grid, straight from its definition."""
    total = np.zeros(shape, dtype=complex)
    for copy_y, copy_x in itertools.product(range(-3, 4), repeat=2):
        y, x = np.indices(shape)
        y, x = y + copy_y * shape[0], x + copy_x * shape[1]
        along = y * np.cos(angle) + x * np.sin(angle)
        across = -y * np.sin(angle) + x * np.cos(angle)
        envelope = np.exp(-(along**2 + (slant * across) ** 2) / (2 * sigma**2))
        total += envelope * np.exp(1j * frequency * along)
    return slant / (2 * np.pi * sigma**2) * total


def periodic_morlet(shape, j, angle, L):
    wave = periodic_gabor(shape, 0.8 * 2**j, angle, 0.75 * np.pi / 2**j, 4 / L)
    envelope = periodic_gabor(shape, 0.8 * 2**j, angle, 0.0, 4 / L)
    return wave - wave.sum() / envelope.sum() * envelope


def coarser(kernel, factor):
    """Sample a periodic kernel less finely, by Fourier sums without the frequencies lost."""
    for axis in (0, 1):
        n = kernel.shape[axis]
        m = n // factor
        k = np.arange(-m // 2, m // 2)
        analysis = np.exp(-2j * np.pi * np.outer(k, np.arange(n)) / n)
        synthesis = np.exp(2j * np.pi * np.outer(np.arange(m), k) / m) / m
        kernel = np.moveaxis(np.tensordot(synthesis @ analysis, kernel, (1, axis)), 0, axis)
    return kernel


def convolve(image, kernel):
    """Convolve on a periodic grid, one shift after the other."""
    result = np.zeros(image.shape, dtype=complex)
    for shift in np.ndindex(kernel.shape):
        result += kernel[shift] * np.roll(image, shift, axis=(0, 1))
    return result


def direct_scattering(image, J, L):
    """Scatter by convolutions in space, keeping every 2^j-th pixel after a wavelet of scale j."""
    pads = [((side // 2**J + 2) * 2**J - side) // 2 for side in image.shape]
    x = np.pad(image, [(p, p) for p in pads], mode="reflect")
    low = periodic_gabor(x.shape, 0.8 * 2 ** (J - 1), 0.0, 0.0, 1.0)
    angles = [(L // 2 - 1 - rotation) * np.pi / L for rotation in range(L)]
    off = np.pi / 3.1415  # the reference divides each filter by 3.1415 in place of pi

    def smooth(u, resolution, n_filters):
        step = 2 ** (J - resolution)
        smoothed = convolve(u, coarser(low, 2**resolution)).real
        return off**n_filters * smoothed[::step, ::step][1:-1, 1:-1].ravel()

    zeroth, first, second = [smooth(x, 0, 1)], [], []
    for j1, angle1 in itertools.product(range(J), angles):
        u1 = np.abs(convolve(x, periodic_morlet(x.shape, j1, angle1, L)))[:: 2**j1, :: 2**j1]
        first.append(smooth(u1, j1, 2))
        for j2, angle2 in itertools.product(range(j1 + 1, J), angles):
            wavelet = coarser(periodic_morlet(x.shape, j2, angle2, L), 2**j1)
            step = 2 ** (j2 - j1)
            u2 = np.abs(convolve(u1, wavelet))[::step, ::step]
            second.append(smooth(u2, j2, 3))
    return np.concatenate(zeroth + first + second)


@pytest.mark.parametrize(
    ("shape", "J", "L"), [((8, 8), 1, 4), ((8, 8), 2, 4), ((8, 16), 2, 2), ((16, 16), 3, 2)]
)
def test_agrees_with_convolutions_in_space(shape, J, L, rng):
    image = rng.random(shape)
    features = scattering_features(image[None], J, L, normalize=False)[0]
    np.testing.assert_allclose(features, direct_scattering(image, J, L), atol=1e-5)


def test_each_path_is_divided_by_its_largest_magnitude(rng):
    images = rng.random((3, 32, 32))
    raw = scattering_features(images, normalize=False).reshape(3, 217, 16)
    scaled = scattering_features(images).reshape(3, 217, 16)
    np.testing.assert_allclose(np.abs(scaled).max(axis=2), 1, rtol=1e-6)
    np.testing.assert_allclose(scaled * np.abs(raw).max(axis=2, keepdims=True), raw, rtol=1e-5)


def test_a_black_image_stays_zero():
    assert not scattering_features(np.zeros((2, 32, 32))).any()


def test_colours_are_scattered_one_by_one(rng):
    images = rng.integers(0, 256, (5, 32, 32, 3), dtype=np.uint8)
    features = scattering_features(images)
    assert features.shape == (5, 3 * 3472)
    for channel in range(3):
        part = features[:, channel * 3472 : (channel + 1) * 3472]
        np.testing.assert_array_equal(part, scattering_features(images[..., channel]))


def test_blocks_and_threads_do_not_matter(rng):
    images = rng.random((70, 32, 32)).astype(np.float32)
    one = scattering_features(images, n_jobs=1)
    np.testing.assert_array_equal(one, scattering_features(images, n_jobs=2))
    np.testing.assert_array_equal(one[40:41], scattering_features(images[40:41]))


@pytest.mark.parametrize("scale", [2.0**-900, 2.0**-70, 2.0**900])
def test_multiples_by_powers_of_two_have_the_same_normalised_features(scale, rng):
    images = rng.random((3, 16, 16))
    np.testing.assert_array_equal(
        scattering_features(images * scale, 2), scattering_features(images, 2)
    )


def test_stable_under_a_small_shift(rng):
    """The point of scattering: a shift by one pixel moves features half as much as pixels."""
    image = np.kron(rng.random((4, 4)), np.ones((8, 8)))
    both = np.stack([image, np.roll(image, 1, axis=1)])
    features = scattering_features(both, normalize=False)
    moved = np.linalg.norm(features[1] - features[0]) / np.linalg.norm(features[0])
    assert moved < 0.5 * np.linalg.norm(both[1] - both[0]) / np.linalg.norm(image)


@pytest.mark.parametrize(
    ("images", "options", "message"),
    [
        (np.zeros((2, 28, 28)), {}, r"28 x 28.*multiples of 2\*\*J = 8; resize"),
        (np.zeros((32, 32)), {}, r"shape is \(32, 32\)"),
        (np.zeros((0, 32, 32)), {}, "not be empty"),
        (np.full((1, 32, 32), np.nan), {}, "NaN or infinite"),
        (np.zeros((1, 32, 32)), {"J": 0}, "J=0"),
        (np.zeros((1, 32, 32)), {"J": 6}, r"multiples of 2\*\*J = 64"),
    ],
)
def test_bad_input_is_explained(images, options, message):
    with pytest.raises(ValueError, match=message):
        scattering_features(images, **options)
