import numpy as np
import pytest

from dssc.report.spectrum_picture import spectrum_picture


@pytest.mark.parametrize("values", [[1.0, 1.0, 1.0], [1.0, 0.999999, 0.9], [0.5, -0.7], [1.0]])
def test_any_spectrum_can_be_drawn(values):
    picture = spectrum_picture(np.array(values), 2)
    assert picture.count("<circle") == len(values)
    assert "nan" not in picture
