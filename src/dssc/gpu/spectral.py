"""The spectral step on a device, for a symmetric doubly stochastic affinity."""

import warnings

import numpy as np
import torch
from sklearn.exceptions import ConvergenceWarning

from dssc.gpu.graph import components, offsets
from dssc.gpu.sums import kernels_for
from dssc.graph import NEGLIGIBLE
from dssc.spectral import spectral_embedding
from dssc.spectral.chebyshev import FIRST_DEGREE, LONGEST, MOST_ROUNDS, degree_for
from dssc.spectral.counts import check_counts
from dssc.spectral.eigenvectors import RESOLVED, unresolved
from dssc.spectral.embedding import ranked_components

TOLERANCE = 1e-5  # on the residual of a unit eigenvector
STALLED = 4  # rounds without a residual a quarter smaller end the iteration


def device_embedding(A, csr, n_clusters: int, n_components, rng) -> np.ndarray:
    """Return the leading eigenvectors of A, a symmetric CSR matrix whose rows sum to one.

    `csr` are its parts on the device.

    The result is that of :func:`dssc.spectral_embedding`, zero rows of strays included.
    """
    n_components = n_clusters if n_components is None else n_components
    n = A.shape[0]
    check_counts(n, n_clusters, n_components)
    if n_components > n // 8:  # a block of vectors would be most of the matrix
        return spectral_embedding(A, n_clusters, n_components=n_components, random_state=rng)
    device = csr[0].device
    kept, strays = ranked_components(_membership(csr, n), n_clusters)
    points = torch.as_tensor(kept, device=device)
    n_kept = int(points.max()) + 1
    embedding = torch.zeros((n, n_components), dtype=torch.float64, device=device)
    placed = torch.nonzero(points >= 0).view(-1)
    known = torch.nn.functional.one_hot(points[placed], n_kept).double()
    known /= torch.linalg.vector_norm(known, dim=0)
    n_wanted = n_components - n_kept
    embedding[placed, : min(n_kept, n_components)] = known[:, :n_components]
    if n_wanted > 0 and not (strays and n_kept == n_clusters):
        if strays:
            csr = _restricted(csr, placed, n)
        seed = int(rng.randint(np.iinfo(np.int32).max))
        vectors, residual = leading_eigenvectors(csr, known, n_wanted, seed)
        embedding[placed, n_kept:] = vectors
        if residual > RESOLVED:
            warnings.warn(unresolved(residual), ConvergenceWarning, stacklevel=3)
    return embedding.cpu().numpy()


def _membership(csr, n):
    """Return the number of each point's connected component, in main memory."""
    indptr, columns, values = csr
    rows = torch.repeat_interleave(torch.arange(n, device=columns.device), indptr.diff())
    joined = values > NEGLIGIBLE * values.max()
    lowest = components(rows[joined], columns[joined].long(), n)
    return torch.unique(lowest, return_inverse=True)[1].cpu().numpy()


def _restricted(csr, placed, n):
    """Return the matrix of some points, which are joined to no others."""
    indptr, columns, values = csr
    number = torch.full((n,), -1, dtype=columns.dtype, device=columns.device)
    number[placed] = torch.arange(len(placed), dtype=columns.dtype, device=columns.device)
    lengths = indptr.diff()
    inside = torch.repeat_interleave(number >= 0, lengths) & (number[columns.long()] >= 0)
    rows = torch.repeat_interleave(number, lengths)[inside]
    return offsets(rows, len(placed)), number[columns.long()][inside], values[inside]


def leading_eigenvectors(csr, known, n_wanted: int, seed: int):
    """Return leading eigenvectors orthogonal to the `known` ones, and their worst residual.

    Chebyshev-filtered subspace iteration as in :mod:`dssc.spectral.chebyshev`: filtered in float32,
    judged in float64.
    """
    n, device = len(known), known.device
    n_block = min(n - known.shape[1], -(-max(n_wanted + 4, int(1.4 * n_wanted)) // 8) * 8)
    generator = torch.Generator(device=device).manual_seed(seed)
    X = torch.rand((n, n_block), generator=generator, dtype=torch.float64, device=device) - 0.5
    X = _orthonormal(_without(known, X))
    single = *csr[:2], csr[2].float()
    cut, degree, best, stalled = 0.0, FIRST_DEGREE, torch.inf, 0
    for _ in range(MOST_ROUNDS):
        X = _orthonormal(_without(known, _filtered(single, X.float(), cut, degree).double()))
        eigenvalues, X, residuals = _rayleigh_ritz(csr, X)
        residual = float(residuals[:n_wanted].max())
        stalled = 0 if residual < 0.75 * best else stalled + 1
        best = min(best, residual)
        if residual <= TOLERANCE or stalled == STALLED:
            break
        last, cut = float(eigenvalues[n_wanted - 1]), min(float(eigenvalues[-1]), 1.0 - 1e-9)
        degree = degree_for(last, cut)
    return _with_fixed_signs(X[:, :n_wanted]), residual


def _filtered(csr, X, cut, degree):
    """Apply the Chebyshev polynomial of [-1, cut], scaled to one at 1."""
    combine = kernels_for(X.device).combination
    center, radius = (cut - 1.0) / 2, (cut + 1.0) / 2
    first = sigma = radius / (1.0 - center)
    scale = sigma / radius
    previous, current = X, combine(csr, X, scale, -scale * center)
    for _ in range(min(degree, LONGEST) - 1):
        following = 1.0 / (2.0 / first - sigma)
        scale = 2.0 * following / radius
        step = combine(csr, current, scale, -scale * center, previous, -sigma * following)
        previous, current, sigma = current, step, following
    return current


def _without(known, X):
    return X - known @ (known.T @ X)


def _orthonormal(X):
    """Orthonormalise by two Cholesky factorisations, or by reflections where one fails."""
    for _ in range(2):
        factor, failed = torch.linalg.cholesky_ex(X.T @ X)
        if int(failed):
            return torch.linalg.qr(X)[0]
        X = torch.linalg.solve_triangular(factor.T, X, upper=True, left=False)
    return X


def _rayleigh_ritz(csr, X):
    products = kernels_for(X.device).combination(csr, X, 1.0, 0.0)
    small = (X.T @ products).cpu()
    values, mix = torch.linalg.eigh((small + small.T) / 2)
    values, mix = values.flip(0).to(X.device), mix.flip(1).to(X.device)
    X, products = X @ mix, products @ mix
    return values, X, torch.linalg.vector_norm(products - X * values, dim=0)


def _with_fixed_signs(vectors):
    largest = vectors.abs().argmax(dim=0)
    return vectors * torch.sign(vectors[largest, torch.arange(vectors.shape[1])])
