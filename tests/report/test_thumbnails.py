import base64
import io

import numpy as np
from PIL import Image

from dssc.report.thumbnails import QUALITIES, make_sheet

PREFIX = "data:image/png;base64,"


def pixels(sheet):
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(sheet.address[len(PREFIX) :]))))


def test_thumbnails_lie_where_the_sheet_says():
    images = np.stack([np.full((120, 60), value, dtype=np.uint8) for value in range(0, 250, 10)])
    sheet = make_sheet(images, np.array([3, 20, 7]), 3, 100_000)
    assert (sheet.height, sheet.width) == (QUALITIES[0][0], QUALITIES[0][0] // 2)
    page = pixels(sheet)
    assert sheet.samples.tolist() == [3, 7, 20]
    for place, sample in enumerate(sheet.samples):
        row, column = divmod(place, sheet.columns)
        assert page[row * sheet.height + 1, column * sheet.width + 1] == 10 * sample


def test_images_of_any_range_become_bytes():
    images = np.linspace(-3.0, 5.0, 2 * 4 * 4).reshape(2, 4, 4)
    page = pixels(make_sheet(images, np.arange(2), 2, 10_000))
    assert (page.min(), page.max()) == (0, 255)


def test_less_space_makes_them_smaller_and_then_fewer(rng):
    images = rng.integers(0, 255, (200, 100, 100), dtype=np.uint8)
    wanted = rng.permutation(200)
    sides, counts = [], []
    for space in (4_000_000, 900_000, 200_000, 20_000):
        sheet = make_sheet(images, wanted, 100, space)
        assert len(sheet.address) <= space
        assert set(sheet.samples) == set(wanted[: len(sheet.samples)])  # the first are the needed
        sides.append(sheet.width)
        counts.append(len(sheet.samples))
    assert sides == sorted(sides, reverse=True)
    assert counts[0] == 200
    assert counts[-1] < 100
    assert make_sheet(images, wanted, 100, 50) is None
