"""Scaling samples to unit norm."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils import check_array, gen_batches

from dssc._devices import is_tensor
from dssc._typing import Array, Matrix
from dssc._validation import check_structure
from dssc.features.by_rows import map_rows

# Rows that are multiplied with all others together.
FEW_ROWS = 64


def unit_norm(X: ArrayLike | Matrix) -> Matrix:
    """Return X with every row scaled to Euclidean norm one, in the dtype of X.

    Zero rows have no direction: they raise an error that lists them. Scaling a point does not
    change the subspace it lies in, so every method here starts with it.
    """
    rows = check_array(check_structure("X", X), accept_sparse="csr", dtype=[np.float64, np.float32])
    # Dividing by the largest entry first keeps squares of tiny or huge values in range.
    largest = _largest_per_row(rows)
    refuse_zeros(largest)
    rows = _scale_rows(rows, largest)
    if isinstance(rows, np.ndarray):
        norms = np.linalg.norm(rows, axis=1)
    else:
        norms = np.sqrt(rows.multiply(rows).sum(axis=1))
    return _scale_rows(rows, np.asarray(norms).ravel())


def check_no_zero_rows(X: Any) -> None:
    """Raise the error of `unit_norm` for zero rows of an array or a tensor, without a copy of X."""
    if is_tensor(X):
        refuse_zeros(X.abs().amax(dim=1).cpu().numpy())
        return
    refuse_zeros(map_rows(X, _largest_per_row, "check"))


def are_orthogonal(X: Matrix) -> bool:
    """Return whether all rows of unit norm are orthogonal to each other, up to rounding.

    No row can be expressed by others then, and every clustering would be arbitrary. For other data
    the first rows settle it.
    """
    n, d = X.shape
    if n > d:
        return False
    rounding = d * np.finfo(X.dtype).eps
    for batch in gen_batches(n, FEW_ROWS):
        products = X[batch] @ X.T
        products = abs(products.toarray() if sparse.issparse(products) else products)
        products[np.arange(len(products)), np.arange(n)[batch]] = 0.0
        if products.max() > rounding:
            return False
    return True


def check_not_orthogonal(X: Matrix) -> None:
    """Raise an error if all rows of unit norm are orthogonal to each other, up to rounding."""
    if are_orthogonal(X):
        raise ValueError(
            f"all {X.shape[0]} samples are orthogonal to each other, so that none can be expressed "
            "by others; use features that samples have in common"
        )


def _largest_per_row(X: Matrix) -> Array:
    largest = abs(X).max(axis=1)
    return largest.toarray().ravel() if sparse.issparse(largest) else largest


def refuse_zeros(largest: Array) -> None:
    """Raise an error that lists the rows whose largest magnitude is zero, if there are any."""
    zero = np.flatnonzero(largest == 0)
    if len(zero):
        shown = ", ".join(map(str, zero[:10])) + (", ..." if len(zero) > 10 else "")
        raise ValueError(
            f"X has {len(zero)} zero rows, which cannot be scaled to unit norm: {shown}; "
            "remove them"
        )


def _scale_rows(X: Matrix, divisors: Array) -> Matrix:
    if isinstance(X, np.ndarray):
        return X / divisors[:, None].astype(X.dtype)
    scaled = X.copy()
    scaled.data /= np.repeat(divisors, np.diff(X.indptr)).astype(X.dtype)
    return scaled
