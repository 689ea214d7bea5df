"""The spectral step on a device, for a symmetric doubly stochastic affinity."""

import numpy as np
import torch
from scipy import sparse

from dssc._typing import Array
from dssc.engines.torch.graph import TorchCsr, components, offsets
from dssc.engines.torch.sparse_sums import kernels_for
from dssc.engines.torch.transfers import on_host
from dssc.graph import NEGLIGIBLE
from dssc.spectral import spectral_embedding
from dssc.spectral.chebyshev import (
    BlockOperations,
    RitzVectors,
    chebyshev_eigenvectors,
    chebyshev_filter,
)
from dssc.spectral.counts import check_counts
from dssc.spectral.eigenvectors import warn_if_unresolved
from dssc.spectral.embedding import rank_components

# Largest share of unwanted eigenvectors in a wanted one.
TOLERANCE = 1e-4
# Smallest distance of wanted from unwanted eigenvalues that is resolved.
RESOLUTION = 0.1


def device_embedding(
    A: sparse.csr_array,
    csr: TorchCsr,
    n_clusters: int,
    n_components: int | None,
    n_exact: int | None,
    rng: np.random.RandomState,
) -> Array:
    """Return the leading eigenvectors of a symmetric matrix whose rows sum to one.

    The result is that of :func:`dssc.spectral_embedding`, including its zero rows. `csr` holds the
    parts of A on the device.
    """
    n_components = n_clusters if n_components is None else n_components
    n = A.shape[0]
    check_counts(n, n_clusters, n_components)
    if n_components > n // 8:  # a block of vectors would be most of the matrix
        return spectral_embedding(
            A, n_clusters, n_components=n_components, n_exact=n_exact, random_state=rng
        )
    pieces = rank_components(_membership(csr, n), n_clusters)
    labels = torch.as_tensor(pieces.labels, device=csr[0].device)
    points = torch.nonzero(labels >= 0).view(-1)
    indicators = torch.nn.functional.one_hot(labels[points], pieces.n_pieces).double()
    indicators /= torch.linalg.vector_norm(indicators, dim=0)
    n_known = min(pieces.n_pieces, n_components)
    n_wanted = pieces.n_eigenvectors(n_clusters, n_components)
    embedding = torch.zeros((n, n_components), dtype=torch.float64, device=labels.device)
    embedding[points, :n_known] = indicators[:, :n_components]
    if n_wanted > 0:
        csr = csr if len(points) == n else _restricted(csr, points, n)
        blocks = TorchBlocks(csr, indicators)
        n_exact = None if n_exact is None else max(1, n_exact - n_known)
        ritz, _ = chebyshev_eigenvectors(
            blocks,
            n_wanted,
            rng,
            tol=TOLERANCE,
            resolution=RESOLUTION,
            n_exact=n_exact,
            allow_double=False,
        )
        warn_if_unresolved(float(ritz.residuals[:n_exact].max()))
        embedding[points, n_known : n_known + n_wanted] = _with_fixed_signs(ritz.vectors)
    return on_host(embedding)


def eigenvalues_on_device(csr: TorchCsr, vectors: Array) -> Array:
    """Return the eigenvalues of a symmetric matrix that belong to eigenvectors of unit norm."""
    X = torch.as_tensor(vectors, device=csr[0].device)
    products = kernels_for(X.device).combination(csr, X, 1.0, 0.0)
    return (X * products).sum(dim=0).cpu().numpy()


class TorchBlocks(BlockOperations[torch.Tensor]):
    """Blocks of vectors on a device.

    Parameters
    ----------
    csr : tuple of tensors
        A symmetric matrix with eigenvalues in [-1, 1].
    known : tensor of shape (n, n_known)
        Its orthonormal eigenvectors of eigenvalue one.
    """

    def __init__(self, csr: TorchCsr, known: torch.Tensor):
        self._csr = csr
        self._single_csr = *csr[:2], csr[2].float()
        self._known = known
        self._combination = kernels_for(known.device).combination

    @property
    def n_free(self) -> int:
        """Dimension of the space orthogonal to the known eigenvectors."""
        return self._known.shape[0] - self._known.shape[1]

    def random_block(self, n_vectors: int, rng: np.random.RandomState) -> torch.Tensor:
        """Return a block of random vectors."""
        n, device = len(self._known), self._known.device
        seed = int(rng.randint(np.iinfo(np.int32).max))
        generator = torch.Generator(device=device).manual_seed(seed)
        X = torch.rand((n, n_vectors), generator=generator, dtype=torch.float64, device=device)
        return X - 0.5

    def orthonormal(self, X: torch.Tensor) -> torch.Tensor:
        """Remove the known eigenvectors from X and return an orthonormal basis of the result.

        The basis comes from two Cholesky factorisations, or from reflections where one fails.
        """
        X = X - self._known @ (self._known.T @ X)
        for _ in range(2):
            factor, failed = torch.linalg.cholesky_ex(X.T @ X)
            if int(failed):
                return torch.linalg.qr(X)[0]
            X = torch.linalg.solve_triangular(factor.T, X, upper=True, left=False)
        return X

    def filtered(self, X: torch.Tensor, cut: float, degree: int, *, double: bool) -> torch.Tensor:
        """Apply the polynomial of `chebyshev_filter` to X, in float64 or else in float32."""
        csr = self._csr if double else self._single_csr
        return chebyshev_filter(
            lambda x, previous, scale, center, weight: self._combination(
                csr, x, scale, -scale * center, previous, -weight
            ),
            X.to(csr[2].dtype),
            cut,
            degree,
        ).double()

    def rayleigh_ritz(self, X: torch.Tensor) -> RitzVectors[torch.Tensor]:
        """Return approximate eigenvectors from the span of an orthonormal X."""
        products = self._combination(self._csr, X, 1.0, 0.0)
        small = (X.T @ products).cpu()
        values, mix = torch.linalg.eigh((small + small.T) / 2)
        values, mix = values.flip(0), mix.flip(1).to(X.device)
        X, products = X @ mix, products @ mix
        residuals = torch.linalg.vector_norm(products - X * values.to(X.device), dim=0)
        return RitzVectors(values.numpy(), X, residuals.cpu().numpy())


def _membership(csr: TorchCsr, n: int) -> Array:
    """Return the number of each point's connected component, in main memory."""
    indptr, columns, values = csr
    rows = torch.repeat_interleave(torch.arange(n, device=columns.device), indptr.diff())
    joined = values > NEGLIGIBLE * values.max()
    lowest = components(rows[joined], columns[joined].long(), n)
    return torch.unique(lowest, return_inverse=True)[1].cpu().numpy()


def _restricted(csr: TorchCsr, points: torch.Tensor, n: int) -> TorchCsr:
    """Return the matrix of a set of points that is connected to no others."""
    indptr, columns, values = csr
    number = torch.full((n,), -1, dtype=columns.dtype, device=columns.device)
    number[points] = torch.arange(len(points), dtype=columns.dtype, device=columns.device)
    lengths = indptr.diff()
    inside = torch.repeat_interleave(number >= 0, lengths) & (number[columns.long()] >= 0)
    rows = torch.repeat_interleave(number, lengths)[inside]
    return offsets(rows, len(points)), number[columns.long()][inside], values[inside]


def _with_fixed_signs(vectors: torch.Tensor) -> torch.Tensor:
    """Make the entry of the largest magnitude positive in every column."""
    largest = vectors.abs().argmax(dim=0)
    return vectors * torch.sign(vectors[largest, torch.arange(vectors.shape[1])])
