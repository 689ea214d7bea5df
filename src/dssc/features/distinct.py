"""Equal rows: which samples are copies of another one, up to their length.

Every method scales rows to unit norm, so rows that differ in length only are copies of each other.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy import sparse

from dssc import kernels
from dssc._cluster_rows import ClusterRows
from dssc._devices import as_array, is_tensor
from dssc._threads import block_threads
from dssc._typing import Array
from dssc.features.scaling import unit_norm
from dssc.subspaces import unit_rows

# Rows of unit norm are equal if no entry differs by more than this, which is far above rounding
# and far below what a measurement can tell.
EQUAL = 1e-12
# Entries of X that are worked on together, in main memory and on a device.
BATCH_ENTRIES, DEVICE_BATCH_ENTRIES = 1 << 19, 1 << 25
# Entries that are scaled together: half a megabyte, so that they stay in the cache.
SCRATCH_ENTRIES = 1 << 16


@dataclass(frozen=True)
class DistinctRows:
    """The distinct points among some samples.

    Attributes
    ----------
    first : ndarray of shape (n_points,)
        The first sample of every distinct point, in rising order.
    point_of : ndarray of shape (n_samples,)
        The distinct point that each sample is a copy of.
    signs : ndarray of shape (n_samples,)
        Minus one where a sample is the opposite of its point, else one.
    """

    first: Array
    point_of: Array
    signs: Array

    @classmethod
    def separate(cls, n: int) -> "DistinctRows":
        """Return n samples that count as distinct."""
        return cls(np.arange(n), np.arange(n), np.ones(n))

    @property
    def n_points(self) -> int:
        """Number of distinct points."""
        return len(self.first)

    @property
    def has_copies(self) -> bool:
        """Whether some samples are equal."""
        return len(self.first) < len(self.point_of)

    def take(self, X: Any) -> Any:
        """Return the distinct points of X."""
        return X[self.first] if self.has_copies else X

    def spread(self, values: Array) -> Array:
        """Return values of all samples from those of the points."""
        return values[self.point_of] if self.has_copies else values

    def are_clusters(self, n_clusters: int | None) -> bool:
        """Return whether there are copies, and no more points than clusters."""
        return self.has_copies and self.n_points <= (n_clusters or 1)

    @cached_property
    def n_copies(self) -> Array:
        """Number of samples of every point."""
        return np.bincount(self.point_of)

    @cached_property
    def members(self) -> Array:
        """The samples, sorted by their point."""
        return np.argsort(self.point_of, kind="stable")


def distinct_rows(X: Any, with_opposites: bool = False) -> DistinctRows:
    """Find rows that are equal when they are scaled to unit norm.

    Rows are multiplied by one random vector: equal rows have equal products. So only rows whose
    products are neighbours in sorted order are compared, and where there are no copies that is the
    cost of one product.

    Parameters
    ----------
    X : ndarray, sparse matrix or tensor of shape (n_samples, n_features)
        Samples, none of them zero.
    with_opposites : bool
        Whether a row and its opposite count as equal.
    """
    keys = _products_with_random_vector(X)
    if is_tensor(keys):
        if not _has_equal_rows(X, keys, with_opposites):
            return DistinctRows.separate(len(keys))
        keys = as_array(keys)
    signs = np.where(keys < 0, -1.0, 1.0) if with_opposites else np.ones(len(keys))
    keys *= signs
    order = np.argsort(keys, kind="stable")
    is_start = np.ones(len(order), dtype=bool)
    near = np.flatnonzero(np.diff(keys[order]) <= EQUAL)
    for batch in _batches(len(near), X.shape[1], BATCH_ENTRIES):
        left, right = order[near[batch]], order[near[batch] + 1]
        rows = [signs[at, None] * unit_rows(as_array(X[at])) for at in (left, right)]
        is_start[near[batch] + 1] = np.abs(rows[0] - rows[1]).max(axis=1) > EQUAL
    if is_start.all():
        return DistinctRows.separate(len(order))
    groups = np.empty(len(order), dtype=np.int64)
    groups[order] = np.cumsum(is_start) - 1
    _, first, point_of = np.unique(groups, return_index=True, return_inverse=True)
    by_sample = np.argsort(first)  # points in the order of their first samples
    first, point_of = first[by_sample], np.argsort(by_sample)[point_of]
    return DistinctRows(first, point_of, signs * signs[first][point_of])


def _has_equal_rows(X: Any, keys: Any, with_opposites: bool) -> bool:
    """Return whether rows of a tensor whose products are neighbours are equal.

    Of a million products some are neighbours by chance, and main memory is far from their rows.
    """
    signs = 1.0 - 2.0 * ((keys < 0) & with_opposites).double()
    ordered, order = (keys * signs).sort()
    near = (ordered.diff() <= EQUAL).nonzero().view(-1)
    for batch in _batches(len(near), X.shape[1], DEVICE_BATCH_ENTRIES):
        pairs = order[near[batch]], order[near[batch] + 1]
        left, right = (signs[at, None] * _unit_tensor(X[at]) for at in pairs)
        if bool(((left - right).abs().amax(dim=1) <= EQUAL).any()):
            return True
    return False


def _products_with_random_vector(X: Any) -> Any:
    """Return the product of every row of unit norm with the same random vector, where X is."""
    n, d = X.shape
    vector = np.random.default_rng(0).standard_normal(d) / np.sqrt(d)
    if sparse.issparse(X):
        return unit_norm(X).astype(np.float64) @ vector
    if is_tensor(X):
        return _device_products(X, vector)
    if isinstance(X, ClusterRows):
        return X.map_rows(partial(_unit_products, vector=vector), "copies")
    products = np.empty(n)

    def fill(batch: slice) -> None:
        products[batch] = _unit_products(X[batch], vector)

    with block_threads(kernels.n_threads()) as in_threads:
        list(in_threads(fill, _batches(n, d, BATCH_ENTRIES)))
    return products


def _unit_products(rows: Any, vector: Array) -> Array:
    rows = as_array(rows)
    batches = list(_batches(len(rows), rows.shape[1], SCRATCH_ENTRIES))
    products, scratch = np.empty(len(rows)), np.empty(rows[batches[0]].shape)
    for batch in batches:
        products[batch] = unit_rows(rows[batch], scratch) @ vector
    return products


def _device_products(X: Any, vector: Array) -> Any:
    products = X.new_empty(len(X)).double()
    for batch in _batches(X.shape[0], X.shape[1], DEVICE_BATCH_ENTRIES):
        rows = _unit_tensor(X[batch])
        products[batch] = rows @ rows.new_tensor(vector)
    return products


def _unit_tensor(rows: Any) -> Any:
    rows = rows.double()
    rows = rows / rows.abs().amax(dim=1, keepdim=True)
    return rows / rows.norm(dim=1, keepdim=True)


def _batches(n: int, d: int, entries: int) -> Iterator[slice]:
    """Yield slices of n rows of length d that hold about `entries` entries each."""
    size = max(1, entries // d)
    return (slice(start, min(start + size, n)) for start in range(0, n, size))
