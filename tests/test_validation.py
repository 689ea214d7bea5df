from fractions import Fraction

import numpy as np
import pytest

from dssc._validation import as_floats, check_nonnegative, check_positive


@pytest.mark.parametrize("check", [check_positive, check_nonnegative])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (10**400, r"^eta2=1e\+400 \(too large for float64\) must be"),
        (-(10**5000), r"^eta2=-1e\+5000 \(too large"),
        (Fraction(10**400, 3), r"^eta2=Fraction\(1000"),
        (float("nan"), "^eta2=nan must be"),
        (True, "^eta2=True must be"),
    ],
    ids=["integer", "integer too long to print", "fraction", "nan", "boolean"],
)
def test_numbers_beyond_float64_are_named(check, value, message):
    with pytest.raises(ValueError, match=message):
        check("eta2", value)


def test_large_integers_within_float64_are_numbers():
    assert check_positive("eta2", 10**300) == 1e300


def test_an_array_with_an_integer_beyond_float64_is_refused():
    np.testing.assert_array_equal(as_floats("K", [1, 2.5]), [1.0, 2.5])
    with pytest.raises(ValueError, match="K holds an integer too large for float64; rescale it"):
        as_floats("K", [[10**400, 1], [1, 1]])
