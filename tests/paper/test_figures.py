import numpy as np
import pytest
from sklearn.utils import Bunch

from dssc.paper import figures
from dssc.paper.loading import MissingData

image = pytest.importorskip("matplotlib.image")


def test_blocks_are_drawn_where_classes_are(tmp_path):
    y = np.array([1, 0, 1, 0, 1, 0, 1, 0])  # sorted by class, A has two blocks
    A = (y[:, None] == y).astype(float)
    path = figures.draw_sparsity(A, y, 0.5, tmp_path)
    assert path == tmp_path / "sparsity-0.5.png"
    pixels = image.imread(path)[..., :3]
    is_blue = (pixels[..., 2] > 0.3) & (pixels[..., 0] < 0.2) & (pixels[..., 1] < 0.2)
    rows, columns = np.nonzero(is_blue)
    assert len(rows)
    # One pixel per entry: those of the first class are above and left of those of the second.
    first = rows < (rows.min() + rows.max()) / 2
    middle = (columns.min() + columns.max()) / 2
    assert np.all((columns < middle) == first)


def test_samples_of_available_data_sets_are_drawn(tmp_path, monkeypatch):
    fetched = []

    def fetch(name):
        fetched.append(name)
        if name != "orl":
            raise MissingData(name)
        return Bunch(target=np.repeat(np.arange(12), 2), images=np.zeros((24, 6, 5)))

    monkeypatch.setattr(figures, "fetch", fetch)
    assert figures.draw_samples(tmp_path) == tmp_path / "samples.png"
    assert len(fetched) == 6
    height, width = image.imread(tmp_path / "samples.png").shape[:2]
    assert height < width


def test_without_data_there_are_no_samples(tmp_path, monkeypatch):
    def fetch(name):
        raise MissingData(name)

    monkeypatch.setattr(figures, "fetch", fetch)
    assert figures.draw_samples(tmp_path) is None
    assert list(tmp_path.iterdir()) == []
