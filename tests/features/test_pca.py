import numpy as np
import pytest

from dssc import pca_features


@pytest.mark.parametrize("shape", [(60, 20), (20, 60), (30, 30)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_agrees_with_the_singular_value_decomposition(shape, dtype, rng):
    F = (rng.random(shape) + np.linspace(0, 3, shape[1])).astype(dtype)
    U, s, _ = np.linalg.svd(F.astype(np.float64), full_matrices=False)
    expected = U[:, :7] * s[:7]
    X = pca_features(F, 7)
    assert X.dtype == dtype
    np.testing.assert_allclose(
        np.abs(X), np.abs(expected), atol=2e-4 if dtype == np.float32 else 1e-10
    )


def test_the_mean_is_not_subtracted(rng):
    F = rng.random((50, 8)) + 100.0
    X = pca_features(F, 8)
    np.testing.assert_allclose(X @ X.T, F @ F.T, rtol=1e-10)


@pytest.mark.parametrize("shape", [(50, 8), (8, 50)])
def test_signs_are_fixed(shape, rng):
    F = rng.standard_normal(shape)
    X = pca_features(F, 5)
    assert np.all(X[np.argmax(np.abs(X), axis=0), np.arange(5)] > 0)


def test_blocks_do_not_matter_and_memory_maps_work(tmp_path, monkeypatch, rng):
    F = rng.random((70, 30)).astype(np.float32)
    np.save(tmp_path / "F.npy", F)
    whole = pca_features(F, 4)
    monkeypatch.setattr("dssc.features.pca.BLOCK_BYTES", 8 * 30 * 9)
    mapped = np.load(tmp_path / "F.npy", mmap_mode="r")
    np.testing.assert_allclose(pca_features(mapped, 4), whole, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16])
@pytest.mark.parametrize("chunks", [((40, 0, 30), (12, 18)), (70, 30), (7, 30)])
def test_chunks_of_a_dask_array_do_not_matter(chunks, dtype, rng):
    da = pytest.importorskip("dask.array")
    F = (100 * rng.random((70, 30))).astype(dtype)
    whole = pca_features(F, 4)
    lazy = pca_features(da.from_array(F, chunks=chunks), 4)
    assert (lazy.shape, lazy.dtype) == (whole.shape, whole.dtype)
    result = lazy.compute(scheduler="synchronous")
    assert result.dtype == whole.dtype
    np.testing.assert_allclose(result, whole, rtol=1e-5, atol=1e-4)


BAD_INPUT = pytest.mark.parametrize(
    ("F", "n_components", "message"),
    [
        (np.ones((5, 3)), 4, r"n_components=4 must be at most .* = 3"),
        (np.ones((5, 3)), 0, "n_components=0"),
        (np.ones(5), 1, r"shape is \(5,\)"),
        (np.array([[1.0, np.nan], [1.0, 1.0]]), 1, "NaN"),
        (np.array([[1e200, 1.0], [1.0, 1.0]]), 1, "too large"),
    ],
)


@BAD_INPUT
@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
def test_bad_input_is_explained(F, n_components, message):
    with pytest.raises(ValueError, match=message):
        pca_features(F, n_components)


@BAD_INPUT
@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
def test_bad_input_in_chunks_is_explained(F, n_components, message):
    da = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match=message):
        pca_features(da.from_array(F), n_components)
