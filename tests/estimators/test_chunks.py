import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from dssc import ADSSC, make_union_of_subspaces

da = pytest.importorskip("dask.array")


@pytest.fixture(scope="module")
def data():
    return make_union_of_subspaces(120, n_subspaces=3, noise=0.05, random_state=0)[0]


@pytest.mark.parametrize("method", ["predict", "predict_proba", "transform", "outlier_scores"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_methods_map_over_chunks(method, dtype, data):
    data = data.astype(dtype)
    model = ADSSC(3, eta1=1.0, n_neighbors=6, random_state=0).fit(data[:80])
    expected = getattr(model, method)(data)
    lazy = getattr(model, method)(da.from_array(data, chunks=(50, 5)))
    assert (lazy.shape, lazy.dtype) == (expected.shape, expected.dtype)
    assert lazy.numblocks[0] == 3
    found = lazy.compute(scheduler="synchronous")
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_an_unfitted_model_is_refused_at_once():
    with pytest.raises(NotFittedError):
        ADSSC().predict(da.ones((4, 2)))
