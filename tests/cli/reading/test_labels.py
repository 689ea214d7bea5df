import numpy as np
import pytest

from dssc.cli.reading.dispatch import read_samples
from dssc.cli.reading.labels import read_labels

X = np.arange(12.0).reshape(4, 3) + 1


@pytest.mark.parametrize(
    ("name", "content"),
    [("y.csv", "index,cluster\n0,5\n1,5\n2,7\n3,7\n"), ("y.txt", "5\n5\n7\n7\n")],
)
def test_labels_from_a_file_of_their_own(tmp_path, name, content):
    np.save(tmp_path / "a.npy", X)
    (tmp_path / name).write_text(content, encoding="utf-8")
    labels = read_labels(str(tmp_path / name), read_samples(tmp_path / "a.npy"))
    assert labels.tolist() == ["5", "5", "7", "7"]


def test_words_as_labels_may_have_a_heading(tmp_path):
    np.save(tmp_path / "a.npy", X)
    (tmp_path / "y.csv").write_text("kind\nu\nu\nv\nv\n", encoding="utf-8")
    labels = read_labels(str(tmp_path / "y.csv"), read_samples(tmp_path / "a.npy"))
    assert labels.tolist() == ["u", "u", "v", "v"]
