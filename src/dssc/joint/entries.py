"""Entries of a sparse matrix, on the CPU or on a device."""

from typing import Generic, NamedTuple

import numpy as np
from scipy import sparse

from dssc._devices import as_array
from dssc._typing import Array, Matrix
from dssc.joint.array_types import ArrayT


class Entries(NamedTuple, Generic[ArrayT]):
    """Entries of an n x n matrix: keys ``i n + j`` in rising order, and the values there."""

    keys: ArrayT
    values: ArrayT

    def positive(self) -> "Entries[ArrayT]":
        """Return the positive entries."""
        positive = self.values > 0.0
        return Entries(self.keys[positive], self.values[positive])

    def matrix(self, n: int) -> sparse.csr_array:
        """Return the matrix, in main memory."""
        keys, values = as_array(self.keys), as_array(self.values)
        indptr = np.searchsorted(keys, np.arange(n + 1) * n)
        return sparse.csr_array((values, keys % n, indptr), shape=(n, n))


def stored_entries(A: Matrix) -> tuple[Array, Array, Array]:
    """Return rows, columns and values of the stored entries of a matrix."""
    coo = sparse.coo_array(A)
    return coo.row, coo.col, coo.data.astype(np.float64, copy=False)
