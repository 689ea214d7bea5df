"""Checks of parameters, shared by the public functions and the estimators."""

import math
from numbers import Integral, Real
from typing import TypeGuard


def check_positive(name: str, value: object) -> float:
    """Return `value` as a float; raise ValueError unless it is positive and finite."""
    if not _is_finite(value) or value <= 0:
        raise ValueError(f"{name}={value!r} must be a positive finite number")
    return float(value)


def check_nonnegative(name: str, value: object) -> float:
    """Return `value` as a float; raise ValueError unless it is finite and at least zero."""
    if not _is_finite(value) or value < 0:
        raise ValueError(f"{name}={value!r} must be a nonnegative finite number")
    return float(value)


def check_count(name: str, value: object) -> int:
    """Return `value` as an int; raise ValueError unless it is an integer of at least one."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name}={value!r} must be an integer of at least 1")
    return int(value)


def _is_finite(value: object) -> TypeGuard[float]:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
