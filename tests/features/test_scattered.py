import numpy as np
import pytest

from dssc import (
    ADSSC,
    assign_labels,
    clustering_accuracy,
    fetch_coil,
    pca_features,
    resize_images,
    scattered_features,
    scattering_features,
    subspace_preserving_error,
    unit_norm,
)


def test_is_the_composition_of_its_stages(rng, tmp_path, monkeypatch):
    monkeypatch.setattr("dssc.features.scattered.CHUNK", 7)
    images = rng.integers(0, 256, (20, 28, 28), dtype=np.uint8)
    resized = resize_images(images.astype(np.float32), (32, 32))
    expected = unit_norm(pca_features(scattering_features(resized), 6))
    X = scattered_features(images, 6, cache_home=tmp_path)
    assert X.dtype == np.float32
    np.testing.assert_allclose(X, expected, atol=1e-5)
    assert len(list(tmp_path.glob("scattered-*.npy"))) == 1
    np.testing.assert_array_equal(X, scattered_features(images, 6, cache_home=tmp_path))
    np.testing.assert_array_equal(X, scattered_features(images, 6, cache=False))


@pytest.mark.parametrize(
    ("n_objects", "eta1", "eta2", "lowest"),
    [
        (40, 50.0, 0.001, 0.995),
        pytest.param(100, 0.1, 0.025, 0.96, marks=pytest.mark.slow),
    ],
)
def test_scattered_objects_are_told_apart(n_objects, eta1, eta2, lowest, data_home):
    """With the paper's parameters and protocol: ACC 1.00 on COIL-40 and .984 on COIL-100."""
    objects = fetch_coil(n_objects=n_objects, data_home=data_home)
    images, y = objects.images, objects.target
    model = ADSSC(n_objects, eta1=eta1, eta2=eta2, n_components=n_objects, random_state=0, n_init=1)
    model.fit(scattered_features(images, cache=False))
    runs = [
        assign_labels(model.embedding_, n_objects, n_init=1, random_state=run) for run in range(100)
    ]
    assert np.mean([clustering_accuracy(y, labels) for labels in runs]) >= lowest
    assert subspace_preserving_error(model.affinity_matrix_, y) <= 0.002


@pytest.mark.parametrize("shape", [(70, 28, 28), (60, 16, 16, 2)])
def test_images_in_chunks_have_the_same_features(shape, rng, monkeypatch):
    da = pytest.importorskip("dask.array")
    monkeypatch.setattr("dssc.features.scattered.SIDE", 16)
    images = rng.integers(0, 256, shape, dtype=np.uint8)
    expected = scattered_features(images, 6, cache=False)
    chunks = (25, 10, -1) if len(shape) == 3 else (25, 10, 16, 1)
    lazy = scattered_features(da.from_array(images, chunks=chunks), 6)
    assert lazy.numblocks == (3, 1)
    assert (lazy.shape, lazy.dtype) == (expected.shape, np.float32)
    np.testing.assert_allclose(lazy.compute(scheduler="synchronous"), expected, atol=1e-5)


def test_chunks_of_images_on_another_device_are_refused():
    da = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match="device='torch' cannot be used for a Dask array"):
        scattered_features(da.ones((9, 8, 8)), 2, device="torch")


def test_chunks_that_are_not_images_are_refused():
    da = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match=r"images must have shape .* their shape is \(9, 8\)"):
        scattered_features(da.ones((9, 8)), 2)
