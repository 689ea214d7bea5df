import base64
import io

import numpy as np
from PIL import Image

from dssc.report.thumbnails import LONGEST_SIDE, make_sheet


def test_thumbnails_lie_where_the_sheet_says():
    images = np.stack([np.full((60, 30), value, dtype=np.uint8) for value in range(0, 250, 10)])
    sheet = make_sheet(images, np.array([3, 20, 7, 3]))
    assert (sheet.height, sheet.width) == (LONGEST_SIDE, LONGEST_SIDE // 2)
    page = np.asarray(Image.open(io.BytesIO(base64.b64decode(sheet.address[22:]))))
    for point in (3, 7, 20):
        row, column = divmod(sheet.places[point], sheet.columns)
        assert page[row * sheet.height + 1, column * sheet.width + 1] == 10 * point


def test_images_of_any_range_become_bytes():
    images = np.linspace(-3.0, 5.0, 2 * 4 * 4).reshape(2, 4, 4)
    sheet = make_sheet(images, np.arange(2))
    page = np.asarray(Image.open(io.BytesIO(base64.b64decode(sheet.address[22:]))))
    assert (page.min(), page.max()) == (0, 255)
