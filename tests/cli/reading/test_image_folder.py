import numpy as np
import pytest

from dssc.cli.exits import CommandError
from dssc.cli.reading.dispatch import read_samples
from dssc.cli.reading.reader import ReadOptions
from tests.cli.conftest import write_images


def test_images_of_a_folder(tmp_path):
    gray = np.arange(12).reshape(3, 4)
    colour = np.stack([gray] * 3, axis=2)
    write_images(tmp_path, [gray, colour], ["b/10.png", "b/9.png"])
    (tmp_path / "notes.txt").write_text("not an image", encoding="utf-8")
    samples = read_samples(tmp_path)
    assert samples.names == ["b/9.png", "b/10.png"]
    np.testing.assert_array_equal(samples.values, [colour, colour])


def test_images_of_several_sizes_need_a_size(tmp_path):
    write_images(tmp_path, [np.ones((3, 4)), np.ones((5, 5))], ["a.png", "b.png"])
    with pytest.raises(
        CommandError,
        match=r"b\.png is 5 x 5 but a\.png is 3 x 4; give --size, for example --size 3x4",
    ):
        read_samples(tmp_path)
    assert read_samples(tmp_path, ReadOptions(size=(6, 6))).values.shape == (2, 6, 6)
