"""The entries of K that a restricted projection may use."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse


class Graph(NamedTuple):
    """A symmetric sparse matrix as flat CSR arrays: the form the kernels work on."""

    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray


@dataclass(frozen=True)
class Support:
    """A pattern of entries that A may use, with the similarities on it in float64.

    A non-symmetric problem is the symmetric one of ``[[0, K], [K', 0]]`` on a bipartite pattern:
    rows and columns of K are its vertices, alpha and beta its one vector of potentials. So the
    solver knows one kind of problem only, the `graph`.
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

    def targets(self, marginals) -> np.ndarray:
        """Return the wanted row sums of the graph's vertices."""
        a, b = marginals
        return a if self.symmetric else np.concatenate([a, b])

    def join(self, potentials) -> np.ndarray:
        """Return the vector of potentials of the graph's vertices.

        Moving a constant from alpha to beta changes nothing; both get the same mean.
        """
        alpha, beta = potentials
        if self.symmetric:
            return (alpha + beta) / 2
        constant = (alpha.mean() - beta.mean()) / 2
        return np.concatenate([alpha - constant, beta + constant])

    def split(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (alpha, beta) of a vector of potentials."""
        if self.symmetric:
            return w, w
        n = self.matrix.shape[0]
        return w[:n], w[n:]

    def plan(self, slack: np.ndarray) -> sparse.csr_array:
        """Return A, the positive part of the graph's `slack`, without explicit zeros."""
        K = self.matrix
        slack = slack[: K.nnz]
        kept = np.flatnonzero(slack > 0.0)
        indptr = np.searchsorted(kept, K.indptr)
        return sparse.csr_array((slack[kept], K.indices[kept], indptr), shape=K.shape)

    def extended(self, rows, columns, values) -> "Support":
        """Return the support with more entries, none of them held already.

        For a symmetric problem they must come with their mirror images.
        """
        added = csr(rows, columns, values, self.matrix.shape)
        return Support(merged(self.matrix, added), self.symmetric)


def _graph(indptr, indices, values):
    # One pair of index types for every problem, so that the kernels are compiled once.
    return Graph(indptr.astype(np.int64), indices.astype(np.int32, copy=False), values)


def csr(rows, columns, values, shape) -> sparse.csr_array:
    """Return a matrix of the entries given, which hold no duplicates, zeros kept."""
    matrix = sparse.csr_array((values, (rows, columns)), shape=shape)
    matrix.sort_indices()
    return matrix


def merged(first, second) -> sparse.csr_array:
    """Return the union of two matrices with disjoint patterns, explicit zeros kept."""
    a, b = sparse.coo_array(first), sparse.coo_array(second)
    rows = np.concatenate([a.row, b.row])
    columns = np.concatenate([a.col, b.col])
    return csr(rows, columns, np.concatenate([a.data, b.data]), first.shape)


def entry_numbers(matrix) -> np.ndarray:
    """Return ``i * n_columns + j`` of a CSR matrix's entries, rising when its rows are sorted."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return rows * matrix.shape[1] + matrix.indices


def pattern_at(rows, columns, shape) -> sparse.csr_array:
    """Return a boolean matrix that is true at the places given."""
    return sparse.csr_array((np.ones(len(rows), dtype=bool), (rows, columns)), shape=shape)


def pattern_of(matrix: sparse.csr_array) -> sparse.csr_array:
    """Return a boolean matrix that is true where an entry is stored, explicit zeros included."""
    ones = np.ones(matrix.nnz, dtype=bool)
    return sparse.csr_array((ones, matrix.indices, matrix.indptr), shape=matrix.shape)
