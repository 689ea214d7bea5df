"""Checks of parameters, shared by the public functions and the estimators."""

import math
from numbers import Integral, Real
from typing import TypeGuard

from scipy import sparse

from dssc._typing import Matrix

# Formats of sparse matrices with pointers to the start of every row or column.
COMPRESSED = ("csr", "csc", "bsr")


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


def check_structure(name: str, matrix: Matrix) -> Matrix:
    """Return `matrix`; raise ValueError if it is sparse and one of its indices is out of bounds.

    SciPy does not look at indices when it makes a sparse matrix, and compiled code follows them to
    wherever they point.
    """
    if not sparse.issparse(matrix):
        return matrix
    try:
        if matrix.format in COMPRESSED:
            # A second matrix on the same arrays, because the check changes attributes.
            arrays = matrix.data, matrix.indices, matrix.indptr
            type(matrix)(arrays, shape=matrix.shape).check_format(full_check=True)
        else:
            entries = matrix.tocoo()
            sparse.coo_array((entries.data, entries.coords), shape=matrix.shape)
    except (ValueError, IndexError) as error:
        raise ValueError(
            f"{name} is not a valid sparse matrix: {error}; build it again from its entries"
        ) from error
    return matrix


def _is_finite(value: object) -> TypeGuard[float]:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
