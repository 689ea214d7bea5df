"""Rows that can be clustered, and those that cannot: zero rows, and rows with NaN or infinity."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from dssc._devices import is_tensor
from dssc._typing import Array, Matrix
from dssc.features.by_rows import map_rows

# The label of points without a cluster.
NO_CLUSTER = -1
# Rows that an error lists.
ROWS_NAMED = 10
# The end of an error about rows that cannot be used.
REMEDY = "or give them the label -1 by invalid_rows='label'"


@dataclass(frozen=True)
class UsableRows:
    """Which rows of the data are clustered, and how results get a row for each of the others.

    Attributes
    ----------
    mask : ndarray of shape (n_samples,)
        True for rows that are clustered.
    """

    mask: Array

    @property
    def are_all(self) -> bool:
        """Whether all rows are clustered."""
        return bool(self.mask.all())

    def select(self, X: Any) -> Any:
        """Return the rows of an array, a sparse matrix or a tensor that are clustered."""
        return X if self.are_all else X[np.flatnonzero(self.mask)]

    def select_square(self, K: Matrix) -> Matrix:
        """Return the rows and columns that are clustered."""
        kept = np.flatnonzero(self.mask)
        return K if self.are_all else K[kept][:, kept]

    def without(self, dropped: Array) -> "UsableRows":
        """Return the rows without some more of them, marked among all rows."""
        return UsableRows(self.mask & ~dropped) if dropped.any() else self

    def spread(self, values: Array, fill: float) -> Array:
        """Return values for all rows: those of the clustered ones, and `fill` for the others."""
        if self.are_all:
            return values
        out = np.full((len(self.mask), *values.shape[1:]), fill, dtype=values.dtype)
        out[self.mask] = values
        return out

    def spread_square(self, matrix: Matrix) -> Matrix:
        """Return a matrix for all pairs of rows, zero where one of them is not clustered."""
        if self.are_all:
            return matrix
        n, kept = len(self.mask), np.flatnonzero(self.mask)
        if sparse.issparse(matrix):
            entries = matrix.tocoo()
            places = kept[entries.row], kept[entries.col]
            return sparse.csr_array((entries.data, places), shape=(n, n))
        out = np.zeros((n, n), dtype=matrix.dtype)
        out[np.ix_(kept, kept)] = matrix
        return out


def find_usable_rows(X: Any, invalid_rows: str, *, zeros_are_valid: bool = False) -> UsableRows:
    """Return the rows that can be clustered; raise an error that names others unless allowed.

    Parameters
    ----------
    X : ndarray, sparse matrix or tensor of shape (n_samples, n_features)
        Samples.
    invalid_rows : {"error", "label"}
        Whether rows that cannot be clustered are an error.
    zeros_are_valid : bool
        Whether zero rows can be clustered.
    """
    is_finite, is_zero = _finite_and_zero(X)
    if zeros_are_valid:
        is_zero = np.zeros_like(is_zero)
    if invalid_rows == "error":
        bad, zero = np.flatnonzero(~is_finite), np.flatnonzero(is_zero)
        refuse_rows(bad, "rows with NaN or infinite values", "fill or remove them")
        refuse_rows(zero, "zero rows, which cannot be scaled to unit norm", "remove them")
    return UsableRows(is_finite & ~is_zero)


def _finite_and_zero(X: Any) -> tuple[Array, Array]:
    """Return for every row whether it is finite, and whether it is zero."""
    if is_tensor(X):
        return X.isfinite().all(dim=1).cpu().numpy(), (X == 0).all(dim=1).cpu().numpy()
    n = X.shape[0]
    if sparse.issparse(X):
        rows = np.repeat(np.arange(n), np.diff(X.indptr))
        is_finite, is_zero = np.ones(n, dtype=bool), np.ones(n, dtype=bool)
        is_finite[rows[~np.isfinite(X.data)]] = False
        is_zero[rows[X.data != 0]] = False
        return is_finite, is_zero
    sizes = map_rows(X, largest_sizes, "check")
    return np.isfinite(sizes), sizes == 0


def largest_sizes(rows: Array) -> Array:
    """Return the largest magnitude of every row; NaN if the row holds one."""
    most, least = rows.max(axis=1, initial=0.0), rows.min(axis=1, initial=0.0)
    sizes: Array = np.maximum(most, -least)
    return sizes


def refuse_rows(rows: Array, problem: str, remedy: str) -> None:
    """Raise an error that lists rows with a problem, if there are any."""
    if len(rows):
        shown = ", ".join(map(str, rows[:ROWS_NAMED])) + (", ..." if len(rows) > ROWS_NAMED else "")
        raise ValueError(f"X has {len(rows)} {problem}: {shown}; {remedy}, {REMEDY}")
