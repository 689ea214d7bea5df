"""Symmetric sparse matrices on a device, as flat CSR arrays."""

import warnings
from typing import NamedTuple

import torch


class DeviceGraph(NamedTuple):
    """A symmetric matrix in CSR form: magnitudes, their signs, and the row of every entry."""

    indptr: torch.Tensor
    rows: torch.Tensor
    columns: torch.Tensor
    values: torch.Tensor
    negative: torch.Tensor

    @classmethod
    def of_pairs(cls, rows, columns, values, n: int) -> "DeviceGraph":
        """Return the matrix with entries at i < j given, their mirror images, and a zero diagonal.

        The diagonal's zeros are stored: they make every projection feasible.
        """
        index = torch.int32 if 2 * len(rows) + n < 1 << 31 else torch.int64
        own = torch.arange(n, dtype=index, device=rows.device)
        rows, columns = rows.to(index), columns.to(index)
        sorted_rows, order = torch.sort(torch.cat([rows, columns, own]), stable=True)
        columns = torch.cat([columns, rows, own])[order]
        values = torch.cat([values, values, values.new_zeros(n)])[order]
        indptr = offsets(sorted_rows, n).to(index)
        return cls(indptr, sorted_rows, columns, values.abs(), values < 0)

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
