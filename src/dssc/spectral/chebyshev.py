"""Leading eigenvectors of a large sparse matrix by filtered subspace iteration.

A polynomial that is small on the unwanted part of the spectrum and grows steeply beyond it, the
Chebyshev polynomial of that interval, is applied to a block of vectors, which then spans the wanted
eigenvectors better. It needs products with the matrix only, a whole block at a time.
"""

import numpy as np
from scipy import linalg

from dssc import kernels

FIRST_DEGREE, LONGEST = 12, 200
GAIN = 1e4  # by which a round raises the last wanted vector over what is filtered out
MOST_ROUNDS = 60
TOLERANCE = 1e-6  # on the residual of a unit eigenvector; eigenvalues are at most one


def chebyshev_eigenvectors(N, known, n_wanted: int, rng):
    """Return leading eigenvectors of N orthogonal to the `known` ones, and their worst residual.

    Parameters
    ----------
    N : csr_array of shape (n, n)
        Symmetric, with eigenvalues in [-1, 1].
    known : csr_array of shape (n, n_known)
        Orthonormal eigenvectors of eigenvalue one.
    n_wanted : int
        Number of eigenvectors.
    rng : RandomState
        Draws the start.

    Returns
    -------
    vectors : ndarray of shape (n, n_wanted)
        In falling order of their eigenvalues.
    residual : float
        Largest norm of ``N v - lambda v`` among them.
    """
    n = N.shape[0]
    n_block = min(n, -(-max(n_wanted + 4, int(1.4 * n_wanted)) // 8) * 8)
    X = _orthonormal(_without(known, rng.uniform(-1.0, 1.0, (n, n_block))))
    precisions = [_Products(N, np.float64)]
    if n_block < n:
        precisions.append(_Products(N, np.float32))
    cut, degree, last = 0.0, FIRST_DEGREE, np.inf
    for _ in range(MOST_ROUNDS):
        X = _orthonormal(_without(known, precisions[-1].filtered(X, cut, degree)))
        values, X, residuals = _rayleigh_ritz(precisions[0], X)
        residual = residuals[:n_wanted].max()
        if residual <= TOLERANCE:
            break
        if residual > last / 4 and degree == LONGEST and len(precisions) > 1:
            precisions.pop()  # single precision can do no more
        last = residual
        cut = min(values[-1], 1.0 - 1e-9)
        degree = degree_for(values[n_wanted - 1], cut)
    return X[:, :n_wanted], float(residual)


def refined(N, known, vectors):
    """Return the best eigenvectors in the span of some approximate ones, and their worst residual.

    `N` and `known` are those of `chebyshev_eigenvectors`.
    """
    X = _orthonormal(_without(known, vectors.astype(np.float64)))
    _, X, residuals = _rayleigh_ritz(_Products(N, np.float64), X)
    return X, float(residuals.max())


def degree_for(value: float, cut: float) -> int:
    """Return the degree at which the polynomial of [-1, cut] gains GAIN at `value`."""
    beyond = max(2.0 * (value - cut) / (cut + 1.0), 1e-12)
    return int(np.clip(np.arccosh(GAIN) / np.arccosh(1.0 + beyond), FIRST_DEGREE, LONGEST))


class _Products:
    """Products with one matrix in some precision, and Chebyshev polynomials of it."""

    def __init__(self, N, dtype):
        indices = N.indices.astype(np.int32, copy=False)
        self.arrays = N.indptr.astype(np.int64), indices, N.data.astype(dtype, copy=False)
        self.dtype = dtype
        self.step = kernels.select().chebyshev_step

    def __call__(self, X):
        out = np.empty_like(X)
        self.step(*self.arrays, X, X, 1.0, 0.0, 0.0, out)
        return out

    def filtered(self, X, cut, degree):
        """Apply the polynomial of a degree that is at most one on [-1, cut], scaled to one at 1.

        The scaling runs along with the recurrence, whose terms would overflow without it.
        """
        X = X.astype(self.dtype, copy=False)
        center, radius = (cut - 1.0) / 2, (cut + 1.0) / 2
        first = radius / (1.0 - center)
        sigma = first
        previous, current, spare = X, np.empty_like(X), np.empty_like(X)
        self.step(*self.arrays, X, X, sigma / radius, center, 0.0, current)
        for _ in range(degree - 1):
            following = 1.0 / (2.0 / first - sigma)
            self.step(
                *self.arrays, current, previous, 2 * following / radius, center,
                sigma * following, spare,
            )  # fmt: skip
            sigma = following
            if previous is X:  # perhaps the caller's
                previous = np.empty_like(X)
            previous, current, spare = current, spare, previous
        return current.astype(np.float64, copy=False)


def _without(known, X):
    return X - known @ (known.T @ X)


def _orthonormal(X):
    return linalg.qr(X, mode="economic", overwrite_a=True, check_finite=False)[0]


def _rayleigh_ritz(apply, X):
    """Return the eigenvalues of the matrix on span(X), falling, with vectors and residuals."""
    products = apply(X)
    values, mix = linalg.eigh(X.T @ products)
    values, mix = values[::-1], mix[:, ::-1]
    X, products = X @ mix, products @ mix
    return values, X, np.linalg.norm(products - X * values, axis=0)
