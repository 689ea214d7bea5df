import numpy as np
import pytest

from dssc.report.spectrum_picture import spectrum_picture, spectrum_text


@pytest.mark.parametrize("values", [[1.0, 1.0, 1.0], [1.0, 0.999999, 0.9], [0.5, -0.7], [1.0]])
def test_any_spectrum_can_be_drawn(values):
    picture = spectrum_picture(np.array(values), 2)
    assert picture.count("<circle") == len(values)
    assert "nan" not in picture


def test_rounding_is_no_gap():
    values = np.array([1.0, 1.0, 1.0 - 2e-16, 1.0 - 4e-16])
    assert "no gap after 2" in spectrum_picture(values, 2)
    assert spectrum_text(values, 2).startswith("There is no gap")


@pytest.mark.parametrize(
    ("values", "k", "text"),
    [
        ([1.0, 0.9, 0.5, 0.4], 2, "The widest gap, 0.4, is after 2"),
        ([1.0, 0.9, 0.8, 0.2], 2, "There is a gap of 0.1 after 2; the widest, 0.6, is after 3."),
        ([1.0, 0.4, 0.3, 0.25], 2, "The widest gap, 0.1, is after 2"),
        ([1.0, 0.4, 0.3, 0.25], 1, "The widest gap, 0.6, is after 1"),
        ([1.0, 0.9], 2, "There are as many clusters as points"),
    ],
)
def test_the_gap_is_told_in_words(values, k, text):
    assert spectrum_text(np.array(values), k).startswith(text)
