"""Some entries of a matrix, wherever they are held."""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from dssc._devices import as_array


class Entries(NamedTuple):
    """Keys ``i n + j`` of places in an n x n matrix, in rising order, and the values there.

    Arrays, or tensors on a device.
    """

    keys: Any
    values: Any

    def positive(self) -> "Entries":
        """Return those that are positive."""
        on = self.values > 0.0
        return Entries(self.keys[on], self.values[on])

    def matrix(self, n: int) -> sparse.csr_array:
        """Return the matrix, in main memory."""
        keys, values = as_array(self.keys), as_array(self.values)
        indptr = np.searchsorted(keys, np.arange(n + 1) * n)
        return sparse.csr_array((values, keys % n, indptr), shape=(n, n))
