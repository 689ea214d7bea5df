"""Symmetric sparse matrices on a device, as flat CSR arrays."""

import warnings
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import torch
from scipy import sparse
from torch import Tensor

from dssc.engines.torch.transfers import on_host

# Row offsets, columns and values of a sparse matrix.
TorchCsr: TypeAlias = tuple[Tensor, Tensor, Tensor]


class TorchGraph(NamedTuple):
    """A symmetric matrix in CSR form: sizes, which were negative, and the row of every entry."""

    indptr: Tensor
    rows: Tensor
    columns: Tensor
    values: Tensor
    negative: Tensor

    @classmethod
    def of_pairs(
        cls, rows: Tensor, columns: Tensor, values: Tensor, n: int, signed: bool = False
    ) -> "TorchGraph":
        """Return the matrix with given entries at i < j, their mirror images, and a zero diagonal.

        The diagonal's zeros are stored: they make every projection feasible. Negative entries count
        by their magnitude or, if `signed`, as zero.
        """
        index = index_type(2 * len(rows) + n)
        own = torch.arange(n, dtype=index, device=rows.device)
        rows, columns = rows.to(index), columns.to(index)
        entries = torch.cat([rows, columns, own]), torch.cat([columns, rows, own])
        return cls._sorted(*entries, torch.cat([values, values, values.new_zeros(n)]), n, signed)

    @classmethod
    def bipartite(
        cls, rows: Tensor, columns: Tensor, values: Tensor, n: int, signed: bool = False
    ) -> "TorchGraph":
        """Return ``[[0, K], [K', 0]]`` for K with given entries off its diagonal, which is zero.

        K is n x n. Zeros of its diagonal are stored, and signs count, as in `of_pairs`.
        """
        index = index_type(2 * (len(rows) + n))
        own = torch.arange(n, dtype=index, device=rows.device)
        rows, columns = rows.to(index), columns.to(index)
        left, right = torch.cat([rows, own]), torch.cat([columns, own]) + n
        values = torch.cat([values, values.new_zeros(n)]).repeat(2)
        entries = torch.cat([left, right]), torch.cat([right, left])
        return cls._sorted(*entries, values, 2 * n, signed)

    @classmethod
    def _sorted(
        cls, rows: Tensor, columns: Tensor, values: Tensor, n: int, signed: bool
    ) -> "TorchGraph":
        """Return the matrix with given entries in any order."""
        rows, order = torch.sort(rows, stable=True)
        columns, values = columns[order], values[order]
        sizes = values.clamp(min=0.0) if signed else values.abs()
        return cls(offsets(rows, n), rows, columns, sizes, values < 0)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.indptr) - 1

    def slack(self, w: Tensor) -> Tensor:
        """Return ``values - w_i - w_j`` of every entry."""
        total = w[self.rows]
        total += w[self.columns]
        return torch.sub(self.values, total, out=total)

    def row_sums(self, values: Tensor) -> Tensor:
        """Return the sum of every row."""
        return torch.segment_reduce(values, "sum", offsets=self.indptr)


def multiplication(
    indptr: Tensor, columns: Tensor, values: Tensor, n: int
) -> Callable[[Tensor], Tensor]:
    """Return the function that multiplies a CSR matrix with vectors."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sparse (CSR tensor support|invariant checks)")
        matrix = torch.sparse_csr_tensor(
            indptr, columns, values, size=(n, n), check_invariants=False
        )
    return lambda x: matrix @ x


def index_type(n_entries: int) -> torch.dtype:
    """Return the smallest type that numbers the entries of a matrix."""
    return torch.int32 if n_entries < 1 << 31 else torch.int64


def offsets(rows: Tensor, n: int) -> Tensor:
    """Return where each row begins, for entries sorted by row."""
    starts = torch.searchsorted(rows, torch.arange(n + 1, dtype=rows.dtype, device=rows.device))
    return starts.to(index_type(len(rows)))


def csr_on_device(A: sparse.csr_array, device: torch.device) -> TorchCsr:
    """Return the parts of a CSR matrix on a device."""
    index = index_type(A.nnz)
    indptr, columns, values = (
        torch.as_tensor(part, device=device) for part in (A.indptr, A.indices, A.data)
    )
    return indptr.to(index), columns.to(index), values


def csr_on_host(csr: TorchCsr, shape: tuple[int, int]) -> sparse.csr_array:
    """Return a CSR matrix in main memory."""
    indptr, columns, values = (on_host(part) for part in csr)
    return sparse.csr_array((values, columns, indptr), shape=shape)


def components(rows: Tensor, columns: Tensor, n: int) -> Tensor:
    """Return the smallest vertex of each vertex's connected component."""
    labels = torch.arange(n, device=rows.device)
    while True:
        lowest = labels.scatter_reduce(0, rows, labels[columns], "amin")
        # The leader of a component takes the best that its members know; then paths are halved.
        lowest = lowest.scatter_reduce(0, labels, lowest, "amin")
        lowest = lowest[lowest]
        lowest = lowest[lowest]
        if torch.equal(lowest, labels):
            return labels
        labels = lowest
