"""Checks of parameters, shared by the public functions and the estimators."""

import math
import sys
from contextlib import suppress
from numbers import Integral, Real
from os import PathLike
from typing import Any, TypeGuard

import numpy as np
from scipy import sparse

from dssc._typing import Array, Matrix

# Formats of sparse matrices with pointers to the start of every row or column.
COMPRESSED = ("csr", "csc", "bsr")


# Largest ratio of two weights: beyond it, float64 does not resolve what the lighter sample adds.
LARGEST_WEIGHT_RATIO = 1e8

# Types that convert to floats, but not to what they mean; their names begin like this.
NOT_REAL = {
    "complex": "Complex data not supported: {name} holds complex numbers; use their real and "
    "imaginary parts as features, or their magnitudes",
    "datetime": "{name} holds dates; turn them into numbers with a unit first",
    "timedelta": "{name} holds durations; turn them into numbers with a unit first",
}

# Types of polars that hold text.
POLARS_TEXT = ("String", "Categorical", "Enum")
# Columns that a message names at most.
MOST_NAMED = 5


def check_real(name: str, values: Any) -> None:
    """Raise ValueError for masked arrays, text, complex numbers, dates and durations."""
    if isinstance(values, str | PathLike):
        raise ValueError(
            f"{name} is the text {str(values)!r}, not an array; read the file first, as by "
            "pandas.read_csv, or cluster it in a terminal by `dssc cluster`"
        )
    if isinstance(values, np.ma.MaskedArray):
        raise ValueError(
            f"{name} is a masked array, and masked entries have no value; fill them or remove "
            "their rows, and pass a plain array"
        )
    if isinstance(values, list | tuple):
        with suppress(ValueError):  # rows of different lengths, which are refused elsewhere
            values = np.asarray(values)
    # A table has a type for each of its columns.
    is_table = hasattr(values, "dtypes") and not hasattr(values, "dtype")
    types = list(values.dtypes) if is_table else [getattr(values, "dtype", None)]
    for kind in types:
        for beginning, complaint in NOT_REAL.items():
            if str(kind).removeprefix("torch.").startswith(beginning):
                raise ValueError(complaint.format(name=name))
    _check_no_text(name, values, is_table)


def _check_no_text(name: str, values: Any, is_table: bool) -> None:
    """Raise ValueError for text that is not a number; in a table, name its columns."""
    if is_table:
        columns = [repr(column) for column in values.columns if _is_text(values[column])]
    else:
        columns = ["all"] if _is_text(values) else []
    if columns:
        where = f" in columns {', '.join(columns[:MOST_NAMED])}" if is_table else ""
        raise ValueError(
            f"{name} holds text that is not a number{where}; leave it out, or encode it as numbers"
        )


def _is_text(values: Any) -> bool:
    """Return whether values hold text that does not convert to floats."""
    kind = getattr(values, "dtype", None)
    if getattr(kind, "kind", "") not in ("O", "S", "U") and not str(kind).startswith(POLARS_TEXT):
        return False
    try:
        np.asarray(values, dtype=np.float64)
    except ValueError as error:
        return "could not convert" in str(error)
    except (TypeError, OverflowError):  # refused elsewhere
        return False
    return False


def check_finite(name: str, matrix: Matrix) -> None:
    """Raise ValueError if an array or a sparse matrix holds NaN or infinite entries."""
    values = matrix.data if sparse.issparse(matrix) else matrix
    if not np.isfinite(np.sum(values)) and not np.all(np.isfinite(values)):
        n_bad = np.count_nonzero(~np.isfinite(values))
        raise ValueError(f"{name} holds {n_bad} NaN or infinite entries; replace or remove them")


def as_floats(name: str, values: Any) -> Array:
    """Return values as an array of float64; raise ValueError if an integer is too large for it."""
    check_real(name, values)
    try:
        return np.asarray(values, dtype=np.float64)
    except OverflowError:
        raise ValueError(f"{name} holds an integer too large for float64; rescale it") from None


def check_positive(name: str, value: object) -> float:
    """Return `value` as a float; raise ValueError unless it is positive and finite."""
    if not _is_finite(value) or value <= 0:
        raise ValueError(f"{name}={_shown(value)} must be a positive finite number")
    return float(value)


def check_nonnegative(name: str, value: object) -> float:
    """Return `value` as a float; raise ValueError unless it is finite and at least zero."""
    if not _is_finite(value) or value < 0:
        raise ValueError(f"{name}={_shown(value)} must be a nonnegative finite number")
    return float(value)


def check_count(name: str, value: object) -> int:
    """Return `value` as an int; raise ValueError unless it is an integer of at least one."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name}={value!r} must be an integer of at least 1")
    return int(value)


def check_sample_weight(sample_weight: Any, n_samples: int) -> Array:
    """Return weights as an array of floats; raise ValueError unless they can be used."""
    weights = as_floats("sample_weight", sample_weight)
    if weights.shape != (n_samples,):
        raise ValueError(
            f"sample_weight must have one number per sample, shape ({n_samples},); its shape is "
            f"{weights.shape}"
        )
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(bad):
        raise ValueError(
            f"sample_weight[{bad[0]}]={float(weights[bad[0]])!r} must be a nonnegative finite "
            f"number ({len(bad)} such weights); use 0 to leave a sample out"
        )
    used = weights[weights > 0]
    if len(used) == 0:
        raise ValueError("sample_weight is zero for all samples; give some a positive weight")
    if not used.max() <= LARGEST_WEIGHT_RATIO * used.min():
        raise ValueError(
            f"sample_weight goes from {used.min():.3g} to {used.max():.3g}; weights must not "
            f"differ by a factor above {LARGEST_WEIGHT_RATIO:.0e}. Use 0 to leave samples out"
        )
    return weights


def check_structure(name: str, matrix: Matrix) -> Matrix:
    """Return `matrix`; raise ValueError unless it holds real numbers, at indices within its shape.

    SciPy does not look at indices when it makes a sparse matrix, and compiled code follows them to
    wherever they point.
    """
    check_real(name, matrix)
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


def _shown(value: object) -> str:
    """Return a value as text; an integer beyond the range of float64 by its size only."""
    if isinstance(value, int) and value.bit_length() > sys.float_info.max_exp:
        sign = "-" if value < 0 else ""
        return f"{sign}1e+{int(value.bit_length() * math.log10(2))} (too large for float64)"
    return repr(value)


def _is_finite(value: object) -> TypeGuard[float]:
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer or fraction beyond the range of float64
        return False
