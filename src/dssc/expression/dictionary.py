"""The samples as a dictionary: finding those that correlate most with given residuals."""

import numpy as np
from scipy import sparse

from dssc.kernels._numba.atoms import largest_magnitudes

TILE = 1 << 26  # products held at a time
INNER = 1 << 25  # entries up to which all inner products are kept, in float64: a tile as well


class Dictionary:
    """All samples, in float64 for values and in float32 for searching.

    A search multiplies residuals with all samples, a tile at a time, in float32. Whatever order
    the products are summed in, their error is at most ``(d + 2) u`` of the norms' product with
    u = 2^-24, so what a search returns is a proof: no sample it leaves out exceeds the bound.

    Samples are divided by a power of two, `scale`, that brings the largest norm near one, so that
    float32 neither overflows nor underflows. A penalty on C is to be divided by its square.
    """

    def __init__(self, X, scale=None):
        self.dtype = np.result_type(X.dtype, np.float32)
        X = X.toarray() if sparse.issparse(X) else X
        X = np.ascontiguousarray(X, dtype=np.float64)
        norm = float(np.linalg.norm(X, axis=1).max())
        if not np.isfinite(norm):
            raise ValueError("X holds NaN, infinite or too large values; replace or remove them")
        if scale is None:
            scale = 2.0 ** np.floor(np.log2(norm)) if norm > 0 else 1.0
        self.scale = scale
        self.X = X / scale
        self.single = self.X.astype(np.float32)
        self.largest_norm = norm / scale

    def __len__(self):
        return len(self.X)

    def inner(self):
        """Return all inner products of samples where they fit in a tile, or an empty matrix."""
        return self.X @ self.X.T if len(self) ** 2 <= INNER else np.empty((0, 0))

    def blocks(self, n_rows=None):
        """Return slices of `n_rows` rows, or all, whose products with the samples fill one tile."""
        n_rows = len(self) if n_rows is None else n_rows
        size = max(1, TILE // len(self))
        return [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]

    def products(self, residuals, *, precise=False):
        """Return ``R X'`` and a bound on the error of every row's entries."""
        samples = self.X if precise else self.single
        P = residuals.astype(samples.dtype, copy=False) @ samples.T
        unit = np.finfo(samples.dtype).eps / 2 * (samples.shape[1] + 2)
        return P, unit / (1 - unit) * np.linalg.norm(residuals, axis=1) * self.largest_norm

    def search(self, residuals, own, n_places, *, stored=None, precise=False):
        """Find the samples that correlate most with each residual, off its own and stored ones.

        Parameters
        ----------
        residuals : ndarray of shape (n_rows, n_features)
            Residuals.
        own : ndarray of shape (n_rows,)
            The sample each residual belongs to, which is never found.
        n_places : int
            How many to find.
        stored : pair of ndarrays, optional
            Offsets and indices of further samples not to be found, row by row.
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
