import io

import hypothesis.strategies as st
import numpy as np
from hypothesis import given
from hypothesis.extra.numpy import arrays
from PIL import Image

from dssc.report import encode_png


@given(arrays(np.uint8, st.sampled_from([(3, 5), (1, 1), (4, 2, 3)])))
def test_png_files_hold_the_image(image):
    with Image.open(io.BytesIO(encode_png(image))) as decoded:
        np.testing.assert_array_equal(np.asarray(decoded), image)
