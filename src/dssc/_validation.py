"""Checks of parameters, shared by the public functions and the estimators."""

import math
from numbers import Integral, Real


def check_positive(name: str, value: object) -> float:
    """Return `value` as a float; raise ValueError unless it is positive and finite."""
    number = _finite_number(value)
    if number is None or number <= 0:
        raise ValueError(f"{name}={value!r} must be a positive finite number")
    return number


def check_nonnegative(name: str, value: object) -> float:
    """Return `value` as a float; raise ValueError unless it is finite and at least zero."""
    number = _finite_number(value)
    if number is None or number < 0:
        raise ValueError(f"{name}={value!r} must be a nonnegative finite number")
    return number


def check_count(name: str, value: object) -> int:
    """Return `value` as an int; raise ValueError unless it is an integer of at least one."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name}={value!r} must be an integer of at least 1")
    return int(value)


def _finite_number(value: object) -> float | None:
    if not isinstance(value, Real) or isinstance(value, bool) or not math.isfinite(value):
        return None
    return float(value)
