"""Checks of parameters that more than one front door makes."""

import math
from numbers import Integral, Real


def check_positive(name: str, value) -> float:
    """Return a positive finite number, or say what is wrong with it."""
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < float(value) < math.inf:
        raise ValueError(f"{name}={value!r} must be a positive finite number")
    return float(value)


def check_nonnegative(name: str, value) -> float:
    """Return a finite number of at least zero, or say what is wrong with it."""
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 <= float(value) < math.inf:
        raise ValueError(f"{name}={value!r} must be a nonnegative finite number")
    return float(value)


def check_count(name: str, value) -> int:
    """Return an integer of at least one, or say what is wrong with it."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name}={value!r} must be an integer of at least 1")
    return int(value)
