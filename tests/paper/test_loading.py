import numpy as np
import pytest
from sklearn.utils import Bunch

from dssc.paper import loading


@pytest.fixture(autouse=True)
def forgetful():
    """No data set is kept from one test to the next."""
    loading.load.cache_clear()
    yield
    loading.load.cache_clear()


def test_features_made_on_a_device_come_back_as_an_array(monkeypatch):
    torch = pytest.importorskip("torch")
    asked = []

    def scattered(images, device):
        asked.append(device)
        return torch.ones((len(images), 5), dtype=torch.float32)

    bunch = Bunch(images=np.zeros((4, 8, 8)), target=np.arange(4))
    monkeypatch.setattr(loading, "fetch", lambda name: bunch)
    monkeypatch.setattr(loading.dssc, "scattered_features", scattered)
    X, y = loading.load("coil40_scattered", "torch")
    assert asked == ["torch"]
    assert isinstance(X, np.ndarray)
    assert (X.dtype, X.shape) == (np.float64, (4, 5))
    assert y is bunch.target


def test_a_part_of_a_data_set_is_not_taken_for_the_whole(monkeypatch):
    part = Bunch(images=np.zeros((4, 8, 8)), data=np.zeros((4, 64)), target=np.arange(4))
    monkeypatch.setattr(loading.dssc, "fetch_orl", lambda **options: part)
    with pytest.raises(loading.MissingData, match="ORL: only 4 of 400 samples are available"):
        loading.load("orl")
