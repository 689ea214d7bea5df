"""Symmetric sparse matrices on a device, as flat CSR arrays."""

import warnings
from typing import NamedTuple

import torch


class DeviceGraph(NamedTuple):
    """A symmetric matrix in CSR form, rows sorted, with the row of every entry."""

    indptr: torch.Tensor
    rows: torch.Tensor
    columns: torch.Tensor
    values: torch.Tensor

    @classmethod
    def of_pairs(cls, rows, columns, values, n: int) -> "DeviceGraph":
        """Return the matrix with entries at i < j given, their mirror images, and a zero diagonal.

        The diagonal's zeros are stored: they make every projection feasible.
        """
        own = torch.arange(n, device=rows.device)
        keys = torch.cat([rows * n + columns, columns * n + rows, own * n + own])
        keys, order = torch.sort(keys)
        values = torch.cat([values, values, values.new_zeros(n)])[order]
        rows = torch.div(keys, n, rounding_mode="floor")
        return cls(offsets(rows, n), rows, keys - rows * n, values)

    def product(self, values):
        """Return the function that multiplies a matrix of this pattern with vectors."""
        return multiplication(self.indptr, self.columns, values, len(self.indptr) - 1)

    def row_sums(self, values):
        """Return the sum of every row."""
        return torch.segment_reduce(values, "sum", offsets=self.indptr)


def multiplication(indptr, columns, values, n: int):
    """Return the function that multiplies a CSR matrix with vectors."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sparse (CSR tensor support|invariant checks)")
        matrix = torch.sparse_csr_tensor(
            indptr, columns, values, size=(n, n), check_invariants=False
        )
    return lambda x: matrix @ x


def offsets(rows, n: int):
    """Return where each row begins, for entries sorted by row."""
    return torch.searchsorted(rows, torch.arange(n + 1, device=rows.device))


def components(rows, columns, n: int):
    """Return the smallest vertex of each vertex's connected component."""
    labels = torch.arange(n, device=rows.device)
    while True:
        lowest = labels.scatter_reduce(0, rows, labels[columns], "amin")
        # Whatever leads a component takes on the best its members know; then paths are halved.
        lowest = lowest.scatter_reduce(0, labels, lowest, "amin")
        lowest = lowest[lowest]
        lowest = lowest[lowest]
        if torch.equal(lowest, labels):
            return labels
        labels = lowest
