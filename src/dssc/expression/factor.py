"""Least squares regression (LSR) without an n x n matrix."""

import tempfile
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy import linalg, sparse
from sklearn.utils import gen_batches

from dssc import kernels
from dssc._progress import Advance, Progress
from dssc._sparse import csr_of_parts
from dssc._threads import block_threads, one_thread, share_rows
from dssc._typing import Array, Matrix
from dssc.expression.gram import BLOCK, block_gram, regularised_gram
from dssc.expression.substitution import Substitution
from dssc.subspaces import unit_rows

# Largest relative error of rounding to float32.
UNIT_ROUNDOFF = 2.0**-24
# Beyond this eta1 products of vectors, about 1 / eta1, come near the smallest float32.
LARGEST_ETA1 = 1e30


class LeastSquaresFactor:
    r"""The self-expression of (minC) with :math:`\eta_3 = 0`, as products of short vectors.

    With ``X'X + eta1 I = L L'`` and ``f_i = L^-1 x_i``, the coefficients that express sample i are

    .. math:: C_{ij} = s_i h_{ij}, \quad h_{ij} = \langle f_i, f_j \rangle, \quad
              s_i = 1 / (1 - h_{ii}), \qquad i \ne j ,

    exactly those of :func:`least_squares_representation`. With an infinite eta1 the vectors are
    the samples and all scales are one. Each vector is kept as the sum of two
    float32 vectors: the first alone is used to search all products, and both together to compute
    single products in float64.

    If sample i counts as w_i copies that do not express each other, with W = diag(w), then
    ``X'WX + eta1 I = L L'`` and ``s_i = 1 / (1 - w_i h_ii)``, and C_ij is the coefficient of each
    copy of j: the ridge on p copies of equal coefficients c / p is c^2 / p.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Samples, none of them zero. They are scaled to unit norm here. For a memory map, the vectors
        are kept on disk as well.
    eta1 : float
        Weight of the penalty, positive or infinite.
    progress : Progress, optional
        Shows the stage "factor".
    weights : ndarray of shape (n_samples,), optional
        The w above.

    Attributes
    ----------
    order : ndarray of shape (n_samples,)
        A fixed shuffle of the samples, so that a search in this order meets typical samples first.
    vectors : ndarray of shape (n_samples, n_features), float32
        Row r is the vector of sample ``order[r]``, rounded.
    corrections : ndarray of shape (n_samples, n_features), float32
        What rounding took from `vectors`. Together they hold 48 bits.
    norms : ndarray of shape (n_samples,)
        Euclidean norms of the vectors, in the order of the samples.
    scales : ndarray of shape (n_samples,)
        The s above, in the order of the samples.
    rounding : float
        The error of a product of two vectors in float32 is at most this times their norms, in any
        order of summation.
    """

    def __init__(
        self,
        X: Matrix,
        eta1: float,
        *,
        progress: Progress | None = None,
        weights: Array | None = None,
    ):
        check_representable(eta1)
        n, d = X.shape
        self.rounding = rounding_of(d)
        self.order = np.random.default_rng(0).permutation(n)
        self._place = np.argsort(self.order)
        self.vectors, self.corrections = _empty_like(X), _empty_like(X)
        self.norms = np.empty(n)
        self._known = KnownProducts(n)
        with (progress or Progress()).stage("factor", 2 * n, "points") as advance:
            is_finite = np.isfinite(eta1)
            gram = regularised_gram(X, eta1, unit_rows, advance, weights) if is_finite else None
            self._fill(X, substitution(gram), advance)
        self.scales = scales_of(self.norms, eta1, weights)

    def products(self, rows: Array, columns: Array) -> Array:
        """Return h at pairs of samples in float64; (i, j) and (j, i) give the same number.

        Each product is computed once and kept, since the vectors lie far apart in memory.
        """
        return self._known.at(rows, columns, self._products)

    def product_rows(self, places: Array) -> Array:
        """Return the products of the vectors at some places with all vectors, in float32."""
        return product_rows(self.vectors[places], self.vectors)

    def _products(self, rows: Array, columns: Array) -> Array:
        out = np.empty(len(rows))
        rows, columns = self._place[rows], self._place[columns]

        def multiply(part: slice) -> None:
            halves = self.vectors, self.corrections
            kernels.paired_products(*halves, rows[part], *halves, columns[part], out[part])

        share_rows(multiply, len(out), kernels.threads_worth(len(out) * self.vectors.shape[1]))
        return out

    def _fill(self, X: Matrix, substitute: Callable[[Array], Array], advance: Advance) -> None:
        """Compute the vectors and their norms."""

        def fill(batch: slice) -> int:
            exact = substitute(unit_rows(X[batch]))
            self.norms[batch] = _norms(exact)
            places = self._place[batch]
            self.vectors[places], self.corrections[places] = _split(exact)
            return len(exact)

        with block_threads(kernels.n_threads()) as in_threads:
            for n_done in in_threads(fill, gen_batches(len(self.norms), BLOCK)):
                advance(n_done)


class KnownProducts:
    """Products of pairs of samples that were computed before, sorted by their pairs."""

    def __init__(self, n_samples: int):
        self._keys, self._values = np.empty(0, dtype=np.int64), np.empty(0)
        self._starts = np.zeros(n_samples + 1, dtype=np.int64)

    def at(self, rows: Array, columns: Array, compute: Callable[[Array, Array], Array]) -> Array:
        """Return products at pairs; `compute` returns those that are not known."""
        rows, columns = (np.asarray(one, dtype=np.int64) for one in (rows, columns))
        places = np.empty(len(rows), dtype=np.int64)

        def find(part: slice) -> None:
            own = rows[part], columns[part], places[part]
            kernels.find_pairs(self._keys, self._starts, *own)

        share_rows(find, len(rows), kernels.python_threads_worth(len(rows)))
        out = np.empty(len(rows))
        is_known = places >= 0
        out[is_known] = self._values[places[is_known]]
        unknown = np.flatnonzero(~is_known)
        if len(unknown):
            rows, columns = rows[unknown], columns[unknown]
            out[unknown] = new = compute(rows, columns)
            self._remember(rows, columns, new)
        return out

    def _remember(self, rows: Array, columns: Array, values: Array) -> None:
        n = len(self._starts) - 1
        keys = np.minimum(rows, columns) * n + np.maximum(rows, columns)
        order = np.argsort(keys, kind="stable")
        known = self._keys, self._values
        self._keys, self._values = _merged(known, (keys[order], values[order]))
        self._starts = np.searchsorted(self._keys, np.arange(n + 1) * n)


def _merged(first: tuple[Array, Array], second: tuple[Array, Array]) -> tuple[Array, Array]:
    """Return the union of two sorted arrays of keys, with the values of both."""
    n = len(first[0]) + len(second[0])
    keys, values = np.empty(n, dtype=np.int64), np.empty(n)
    parts = ((np.array([0, len(part[0])]), *part) for part in (first, second))
    kernels.merge_rows(*parts, np.array([0, n]), keys, values)
    return keys, values


class SplitVectors(NamedTuple):
    """Vectors of some samples in their own order; see `LeastSquaresFactor` for the meaning."""

    vectors: Array
    corrections: Array
    norms: Array


def split_vectors(X: Array, substitute: Callable[[Array], Array]) -> SplitVectors:
    """Return what a `LeastSquaresFactor` holds for some samples.

    The bits are the same if X begins at a multiple of `BLOCK` samples.
    """
    vectors, corrections = np.empty((2, *X.shape), dtype=np.float32)
    norms, scratch = np.empty(len(X)), _scratch(X)
    for batch in gen_batches(len(X), BLOCK):
        exact = substitute(unit_rows(X[batch], scratch))
        norms[batch] = _norms(exact)
        vectors[batch] = exact
        exact -= vectors[batch]
        corrections[batch] = exact
    return SplitVectors(vectors, corrections, norms)


def group_gram(X: Array, weights: Array | None = None) -> Array:
    """Return what `regularised_gram` adds for one group of blocks."""
    gram, scratch = np.zeros((X.shape[1], X.shape[1])), _scratch(X)
    for batch in gen_batches(len(X), BLOCK):
        own = None if weights is None else weights[batch]
        gram += block_gram(X[batch], partial(unit_rows, out=scratch), own)
    return gram


def product_rows(left: Array, vectors: Array) -> Array:
    """Return products of some vectors with all others, a block of these on each thread.

    So the bits do not depend on the number of threads, and are the same where the others are
    divided at a multiple of `BLOCK` rows.
    """
    out = np.empty((len(left), len(vectors)), dtype=np.float32)

    def fill(batch: slice) -> None:
        out[:, batch] = left @ vectors[batch].T

    with block_threads(kernels.n_threads()) as in_threads:
        list(in_threads(fill, gen_batches(len(vectors), BLOCK)))
    return out


def substitution(gram: Array | None) -> Callable[[Array], Array]:
    """Return what makes vectors of samples, from ``X'X + eta1 I``; None for an infinite eta1."""
    if gram is None:
        return _unchanged
    with one_thread():  # LAPACK's last bits depend on the number of threads
        return Substitution(linalg.cholesky(gram, lower=True, overwrite_a=True))


def scales_of(norms: Array, eta1: float, weights: Array | None) -> Array:
    """Return the scales s of vectors with these norms, of samples with these weights."""
    leverages = norms**2 if weights is None else weights * norms**2
    return np.ones(len(norms)) if np.isinf(eta1) else 1.0 / (1.0 - leverages)


def rounding_of(n_features: int) -> float:
    """Return the relative error of a product in float32, in any order of summation."""
    error = (n_features + 8) * UNIT_ROUNDOFF
    return error / (1.0 - error)


def coefficients_at(
    A: sparse.csr_array, products: Callable[[Array, Array], Array], scales: Array
) -> sparse.csr_array:
    """Return the entries of C where a CSR matrix A has entries off the diagonal.

    ``products(rows, columns)`` returns h at pairs of samples; see `LeastSquaresFactor` for h and
    for the `scales`.
    """
    rows = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    off = np.flatnonzero(rows != A.indices)
    rows, columns = rows[off], A.indices[off]
    values = products(rows, columns) * scales[rows]
    return csr_of_parts(values, columns, np.searchsorted(off, A.indptr), A.shape)


def check_representable(eta1: float) -> None:
    """Raise an error for a finite eta1 whose coefficients, about 1 / eta1, underflow in float32."""
    if LARGEST_ETA1 < eta1 < np.inf:
        raise ValueError(
            f"eta1={eta1!r} is so large that coefficients leave the range of float32; use numpy.inf"
        )


def _unchanged(rows: Array) -> Array:
    return rows


def _scratch(X: Array) -> Array:
    """Return storage for a block of samples in float64; fresh memory for every block is slow."""
    return np.empty((min(len(X), BLOCK), X.shape[1]))


def _norms(rows: Array) -> Array:
    return np.sqrt(np.einsum("ij,ij->i", rows, rows))


def _split(exact: Array) -> tuple[Array, Array]:
    """Return rows rounded to float32, and what rounding takes away; overwrites the rows."""
    rounded = exact.astype(np.float32)
    exact -= rounded
    return rounded, exact


def _empty_like(X: Matrix) -> Array:
    """Return storage for the vectors: in memory, or in an unnamed file if X is a memory map."""
    if not _is_memory_map(X):
        return np.empty(X.shape, dtype=np.float32)
    with tempfile.TemporaryFile(prefix="dssc-") as file:
        return np.memmap(file, dtype=np.float32, mode="w+", shape=X.shape)


def _is_memory_map(X: Matrix) -> bool:
    while isinstance(X, np.ndarray):
        if isinstance(X, np.memmap):
            return True
        X = X.base
    return False
