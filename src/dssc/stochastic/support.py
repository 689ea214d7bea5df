"""The entries of K that a restricted projection may use."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse

from dssc import kernels
from dssc._sparse import csr_of_parts
from dssc._typing import Array


class Graph(NamedTuple):
    """A symmetric sparse matrix as flat CSR arrays: the form the kernels work on."""

    indptr: Array
    indices: Array
    values: Array


@dataclass(frozen=True)
class Support:
    """A pattern of entries that A may use, with the similarities on it in float64.

    A non-symmetric problem is the symmetric one of ``[[0, K], [K', 0]]`` on a bipartite pattern:
    its vertices are the rows and columns of K, and its vector of potentials holds alpha and beta.
    So the solver sees one kind of problem only, the `graph`.
    """

    matrix: sparse.csr_array
    symmetric: bool

    @cached_property
    def graph(self) -> Graph:
        """The problem's graph; its first entries are those of `matrix`, in the same order."""
        K = self.matrix
        if self.symmetric:
            return _graph(K.indptr, K.indices, K.data)
        K_T = K.T.tocsr()
        return _graph(
            np.concatenate([K.indptr, K.indptr[-1] + K_T.indptr[1:]]),
            np.concatenate([K.indices + K.shape[0], K_T.indices]),
            np.concatenate([K.data, K_T.data]),
        )

    def targets(self, marginals: tuple[Array, Array]) -> Array:
        """Return the wanted row sums of the graph's vertices."""
        return marginals[0] if self.symmetric else np.concatenate(marginals)

    def join(self, potentials: tuple[Array, Array]) -> Array:
        """Return the vector of potentials of the graph's vertices.

        Moving a constant from alpha to beta changes nothing; both get the same mean.
        """
        alpha, beta = potentials
        if self.symmetric:
            return (alpha + beta) / 2
        constant = (alpha.mean() - beta.mean()) / 2
        return np.concatenate([alpha - constant, beta + constant])

    def split(self, w: Array) -> tuple[Array, Array]:
        """Return (alpha, beta) of a vector of potentials."""
        if self.symmetric:
            return w, w
        n = self.matrix.shape[0]
        return w[:n], w[n:]

    def plan(self, slack: Array) -> sparse.csr_array:
        """Return A, the positive part of the graph's `slack`, without explicit zeros."""
        K = self.matrix
        slack = slack[: K.nnz]
        kept = np.flatnonzero(slack > 0.0)
        indptr = np.searchsorted(kept, K.indptr)
        return csr_of_parts(slack[kept], K.indices[kept], indptr, K.shape)

    @classmethod
    def of(
        cls, rows: Array, columns: Array, values: Array, shape: tuple[int, int], symmetric: bool
    ) -> "Support":
        """Return the support with the given entries, which come row by row in rising order.

        For a symmetric support these are the entries on and above the diagonal.
        """
        matrix = _csr(rows, columns, values, shape)
        if symmetric:
            off = np.flatnonzero(rows != columns)
            above = _csr(rows[off], columns[off], values[off], shape)
            matrix = merged(matrix, above.T.tocsr())
        return cls(matrix, symmetric)

    def extended(self, rows: Array, columns: Array, values: Array) -> "Support":
        """Return the support with more entries, given as in `of`; it holds none of them yet."""
        added = Support.of(rows, columns, values, self.matrix.shape, self.symmetric)
        return Support(merged(self.matrix, added.matrix), self.symmetric)

    def above(self, potentials: tuple[Array, Array]) -> tuple[Array, Array]:
        """Return the places of the entries that are above the sum of their potentials."""
        K = self.matrix
        alpha, beta = potentials
        rows = np.repeat(np.arange(K.shape[0], dtype=np.int32), np.diff(K.indptr))
        kept = np.flatnonzero(K.data > alpha[rows] + beta[K.indices])
        return rows[kept], K.indices[kept]

    def not_held(self, rows: Array, columns: Array) -> tuple[Array, Array]:
        """Return the places that are not in the support."""
        K, n = self.matrix, self.matrix.shape[1]
        held = np.repeat(np.arange(K.shape[0]) * n, np.diff(K.indptr)) + K.indices
        wanted = rows.astype(np.int64) * n + columns
        at = np.searchsorted(held, wanted)
        at[at == len(held)] = 0
        is_new = held[at] != wanted if len(held) else np.ones(len(wanted), dtype=bool)
        return rows[is_new], columns[is_new]


def _graph(indptr: Array, indices: Array, values: Array) -> Graph:
    # One pair of index types for every problem, so that the kernels are compiled once.
    return Graph(indptr.astype(np.int64), indices.astype(np.int32, copy=False), values)


def _csr(rows: Array, columns: Array, values: Array, shape: tuple[int, int]) -> sparse.csr_array:
    """Return a matrix of entries given row by row in rising order, zeros kept."""
    return sparse.csr_array((values, columns, _offsets(rows, shape[0])), shape=shape)


def merged(first: sparse.csr_array, second: sparse.csr_array) -> sparse.csr_array:
    """Return the union of two matrices with disjoint patterns, explicit zeros kept."""
    indptr = first.indptr + second.indptr
    indices = np.empty(indptr[-1], dtype=first.indices.dtype)
    values = np.empty(indptr[-1])
    parts = ((m.indptr, m.indices, m.data) for m in (first, second))
    kernels.merge_rows(*parts, indptr, indices, values)
    return sparse.csr_array((values, indices, indptr), shape=first.shape)


def distinct(
    places: list[tuple[Array, Array]], shape: tuple[int, int], symmetric: bool
) -> tuple[Array, Array]:
    """Return each place once, in order; for a symmetric matrix the one above the diagonal."""
    rows, columns = (
        np.concatenate(parts).astype(np.int32, copy=False) for parts in zip(*places, strict=True)
    )
    if symmetric:
        rows, columns = np.minimum(rows, columns), np.maximum(rows, columns)
    # Grouped by column and then by row, the columns of every row are in rising order.
    columns, rows = _grouped(columns, rows, shape[1])
    rows, columns = _grouped(rows, columns, shape[0])
    is_first = np.ones(len(rows), dtype=bool)
    is_first[1:] = (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
    return rows[is_first], columns[is_first]


def _grouped(keys: Array, values: Array, n: int) -> tuple[Array, Array]:
    """Return keys below n in rising order with their values; equal keys stay in their order."""
    starts = _offsets(keys, n)
    grouped = np.empty_like(values)
    kernels.group_by_row(keys, values, starts[:-1].copy(), grouped)
    return np.repeat(np.arange(n, dtype=keys.dtype), np.diff(starts)), grouped


def _offsets(rows: Array, n: int) -> Array:
    """Return where each row begins, for entries sorted by row."""
    return np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))])


def pattern_at(rows: Array, columns: Array, shape: tuple[int, int]) -> sparse.csr_array:
    """Return a boolean matrix that is true at the given places."""
    return sparse.csr_array((np.ones(len(rows), dtype=bool), (rows, columns)), shape=shape)


def pattern_of(matrix: sparse.csr_array) -> sparse.csr_array:
    """Return a boolean matrix that is true where an entry is stored, explicit zeros included."""
    ones = np.ones(matrix.nnz, dtype=bool)
    return sparse.csr_array((ones, matrix.indices, matrix.indptr), shape=matrix.shape)
