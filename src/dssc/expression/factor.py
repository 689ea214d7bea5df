"""Least squares regression (LSR) without an n x n matrix."""

import tempfile

import numpy as np
from scipy import linalg, sparse
from sklearn.utils import gen_batches

from dssc import kernels
from dssc._progress import Progress
from dssc._threads import block_threads
from dssc.expression.substitution import Substitution

BLOCK = 2048  # samples that are worked on at once, in float64
UNIT_ROUNDOFF = 2.0**-24  # of float32


class LeastSquaresFactor:
    r"""The self-expression of (minC) with :math:`\eta_3 = 0`, as products of short vectors.

    With ``X'X + eta1 I = L L'`` and ``f_i = L^-1 x_i``, the coefficients that express sample i are

    .. math:: C_{ij} = s_i h_{ij}, \quad h_{ij} = \langle f_i, f_j \rangle, \quad
              s_i = 1 / (1 - h_{ii}), \qquad i \ne j ,

    exactly those of :func:`least_squares_representation`. The vectors are kept as the sum of two
    float32 numbers: the first to search all products, both to compute some in float64.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Samples, none of them zero; they are scaled to unit norm here. For a memory map the vectors
        go to disk too.
    eta1 : float
        Weight of the penalty, positive.

    Attributes
    ----------
    order : ndarray of shape (n_samples,)
        A fixed shuffle of the samples, so that the search meets them as if drawn at random.
    vectors : ndarray of shape (n_samples, n_features), float32
        Row r is the vector of sample ``order[r]``, rounded.
    corrections : ndarray of shape (n_samples, n_features), float32
        What rounding took from `vectors`, to 48 bits in all.
    norms : ndarray of shape (n_samples,)
        Euclidean norms of the vectors, of the samples in their own order.
    scales : ndarray of shape (n_samples,)
        The s above.
    rounding : float
        A product of two vectors in float32, in any order of summation, is off by at most this
        times their norms.
    """

    def __init__(self, X, eta1: float, *, progress: Progress | None = None):
        n, d = X.shape
        self.rounding = (d + 8) * UNIT_ROUNDOFF / (1.0 - (d + 8) * UNIT_ROUNDOFF)
        self.order = np.random.default_rng(0).permutation(n)
        self._place = np.argsort(self.order)
        self.vectors, self.corrections = _empty_like(X), _empty_like(X)
        self.norms = np.empty(n)
        self._keys, self._values = np.array([-1]), np.array([np.nan])
        with (progress or Progress()).stage("factor", 2 * n, "points") as advance:
            cholesky = _factorised(X, eta1, advance)
            self._fill(X, cholesky, advance)
        self.scales = 1.0 / (1.0 - self.norms**2)

    def products(self, rows, columns) -> np.ndarray:
        """Return h at the places given in float64; (i, j) and (j, i) give the same number.

        Each is computed once and kept: the vectors lie far apart in memory.
        """
        keys = np.minimum(rows, columns).astype(np.int64) * len(self.norms)
        keys += np.maximum(rows, columns)
        at = np.empty(len(keys), dtype=np.int64)
        kernels.select().find_sorted(self._keys, keys, at)
        at[at == len(self._keys)] = 0
        unknown = np.flatnonzero(self._keys[at] != keys)
        if len(unknown):
            new = np.empty(len(unknown))
            places = self._place[rows[unknown]], self._place[columns[unknown]]
            kernels.select().paired_products(self.vectors, self.corrections, *places, new)
            out = self._values[at]
            out[unknown] = new
            self._remember(keys[unknown], new)
            return out
        return self._values[at]

    def _remember(self, keys, values):
        """Keep products, in the order of their keys."""
        keys = np.concatenate([self._keys, keys])
        order = np.argsort(keys, kind="stable")
        self._keys = keys[order]
        self._values = np.concatenate([self._values, values])[order]

    def _fill(self, X, cholesky, advance):
        k = kernels.select()
        substitute = Substitution(cholesky)

        def fill(batch):
            exact = substitute(_unit_rows(X[batch]))
            places = self._place[batch]
            k.split_rows(exact, places, self.vectors, self.corrections, self.norms[batch])
            return len(exact)

        with block_threads(k.n_threads()) as in_threads:
            for n_done in in_threads(fill, gen_batches(len(self.norms), BLOCK)):
                advance(n_done)


def coefficients_at(A, products, scales) -> sparse.csr_array:
    """Return the entries of C where a CSR matrix A has entries off the diagonal.

    ``products(rows, columns)`` gives h at places; see `LeastSquaresFactor` for the `scales`.
    """
    rows = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    off = np.flatnonzero(rows != A.indices)
    rows, columns = rows[off], A.indices[off]
    values = products(rows, columns) * scales[rows]
    return sparse.csr_array((values, columns, np.searchsorted(off, A.indptr)), shape=A.shape)


def _factorised(X, eta1, advance):
    """Return the lower triangle L with ``X'X + eta1 I = L L'``, for unit rows."""
    n, d = X.shape
    gram = eta1 * np.eye(d)

    def products(batch):
        rows = _unit_rows(X[batch])
        return rows.T @ rows, len(rows)

    with block_threads(kernels.select().n_threads()) as in_threads:
        for part, n_done in in_threads(products, gen_batches(n, BLOCK)):
            gram += part
            advance(n_done)
    return linalg.cholesky(gram, lower=True, overwrite_a=True)


def _unit_rows(rows):
    """Return some samples in float64, scaled to unit norm."""
    rows = rows.toarray() if sparse.issparse(rows) else rows
    out = np.empty(rows.shape)
    kernels.select().unit_rows(rows, out)
    return out


def _empty_like(X):
    """Return room for the vectors: in memory, or in a nameless file when X is a memory map."""
    if not _is_memory_map(X):
        return np.empty(X.shape, dtype=np.float32)
    with tempfile.TemporaryFile(prefix="dssc-") as file:
        return np.memmap(file, dtype=np.float32, mode="w+", shape=X.shape)


def _is_memory_map(X):
    while isinstance(X, np.ndarray):
        if isinstance(X, np.memmap):
            return True
        X = X.base
    return False
