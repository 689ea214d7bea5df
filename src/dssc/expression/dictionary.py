"""The samples as a dictionary: a search for those that correlate most with given residuals."""

import numpy as np
from scipy import sparse
from sklearn.utils import gen_batches

from dssc._typing import Array, Matrix
from dssc._validation import check_structure
from dssc.kernels.atoms import largest_magnitudes

# Products held at a time.
TILE = 1 << 26
# Up to this many entries all inner products of samples are kept, in float64.
MAX_INNER = 1 << 25


class Dictionary:
    """All samples, in float64 for values and in float32 for searching.

    A search multiplies residuals with all samples in float32, a tile at a time. Whatever the order
    of summation, the error of a product is at most ``(d + 2) u`` times the norms of both factors,
    with u = 2^-24. So a search proves that no sample that it leaves out exceeds a bound.

    The samples are divided by a power of two, `scale`, that brings the largest norm close to one,
    so that float32 neither overflows nor underflows. Penalties on C have to be divided by the
    square of `scale`.
    """

    def __init__(self, X: Matrix, scale: float | None = None):
        check_structure("X", X)
        self.dtype = np.result_type(X.dtype, np.float32)
        X = X.toarray() if sparse.issparse(X) else X
        X = np.ascontiguousarray(X, dtype=np.float64)
        norm = float(np.linalg.norm(X, axis=1).max())
        if not np.isfinite(norm):
            raise ValueError("X holds NaN, infinite or too large values; replace or remove them")
        if scale is None:
            scale = float(2.0 ** np.floor(np.log2(norm))) if norm > 0 else 1.0
        self.scale = scale
        self.X = X / scale
        self.single = self.X.astype(np.float32)
        self.largest_norm = norm / scale

    def __len__(self) -> int:
        return len(self.X)

    def inner(self) -> Array:
        """Return all inner products of samples if they fit in a tile, or else an empty matrix."""
        return self.X @ self.X.T if len(self) ** 2 <= MAX_INNER else np.empty((0, 0))

    def blocks(self, n_rows: int | None = None) -> list[slice]:
        """Divide rows, by default the samples, into slices whose products fill one tile."""
        size = max(1, TILE // len(self))
        return list(gen_batches(len(self) if n_rows is None else n_rows, size))

    def products(self, residuals: Array, *, precise: bool = False) -> tuple[Array, Array]:
        """Return ``R X'`` and, for every row, a bound on the error of its entries."""
        samples = self.X if precise else self.single
        P = residuals.astype(samples.dtype, copy=False) @ samples.T
        return P, product_error(np.finfo(samples.dtype).eps, residuals, self.largest_norm)

    def search(
        self,
        residuals: Array,
        own: Array,
        n_places: int,
        *,
        stored: tuple[Array, Array] | None = None,
        precise: bool = False,
    ) -> tuple[Array, Array]:
        """Find the samples that correlate most with each residual, except its own and stored ones.

        Parameters
        ----------
        residuals : ndarray of shape (n_rows, n_features)
            Residuals.
        own : ndarray of shape (n_rows,)
            The sample that each residual belongs to, which is left out.
        n_places : int
            Number of samples to find for each residual.
        stored : pair of ndarrays, optional
            Offsets and indices of further samples to leave out, row by row.
        precise : bool, default=False
            Whether to search in float64.

        Returns
        -------
        places : ndarray of shape (n_rows, n_places)
            Samples, in no particular order; -1 where there are no more.
        bounds : ndarray of shape (n_rows,)
            No other sample's product with the residual is larger in magnitude.
        """
        P, error = self.products(residuals, precise=precise)
        nothing = np.zeros(len(own) + 1, dtype=np.int64), np.zeros(0, dtype=np.int32)
        indptr, indices = nothing if stored is None else stored
        values = np.empty((len(own), n_places), dtype=P.dtype)
        places = np.empty((len(own), n_places), dtype=np.int32)
        largest_magnitudes(P, own, indptr, indices, values, places)
        smallest = values.min(axis=1).astype(np.float64)
        return places, np.where(smallest < 0, -np.inf, smallest + error)

    def relative_residuals(self, C: sparse.csr_array) -> Array:
        """Return ``|x_i - C_i X| / |x_i|`` for every sample, zero for a zero sample."""
        residuals = np.zeros(len(self))
        for rows in self.blocks():
            samples = self.X[rows]
            errors = np.linalg.norm(samples - C[rows] @ self.X, axis=1)
            norms = np.linalg.norm(samples, axis=1)
            np.divide(errors, norms, out=residuals[rows], where=norms > 0)
        return residuals


def product_error(eps: float, residuals: Array, largest_norm: float) -> Array:
    """Bound the error of products of residuals with samples, summed in any order."""
    unit = eps / 2 * (residuals.shape[1] + 2)
    return unit / (1 - unit) * np.linalg.norm(residuals, axis=1) * largest_norm
