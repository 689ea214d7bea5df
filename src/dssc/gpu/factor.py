"""Least squares regression as products of short vectors, on a device."""

import math
from functools import cached_property
from types import ModuleType

import torch
from scipy import sparse

from dssc.gpu import tiles
from dssc.gpu.tiles import Bounds

BLOCK = 1 << 17  # samples in float64 at once
FUSED_FROM = 2048  # points; fewer are filtered by plain products
_FUSED: dict[int, ModuleType] = {}  # by the width of the vectors
SINGLE_ROUNDOFF = 2.0**-24
UP = 1.0 + 2.0**-20
LONGEST = 64.0  # of the rounded vectors: well inside the range of half precision


class DeviceFactor:
    r"""The self-expression of (minC) as products ``h_ij = <f_i, f_j>``.

    See :class:`dssc.expression.LeastSquaresFactor`. Two copies of the vectors serve two ends:
    rounded ones, in half precision on a GPU, to search all products on the tensor cores, and
    float64 ones to compute those that matter.

    Attributes
    ----------
    order : tensor of shape (n,)
        A fixed shuffle of the samples; all other attributes are in that order.
    exact : tensor of shape (n, d), float64
        The vectors f.
    bounds : Bounds
        The vectors times a power of two, rounded, and what makes of their products upper bounds
        on ``|h_ij| (s_i + s_j) / 2``, s the scales.
    scales : tensor of shape (n,), float64
        ``1 / (1 - h_ii)``.
    """

    def __init__(self, X, eta1: float, device):
        n, d = X.shape
        generator = torch.Generator().manual_seed(0)
        self.order = torch.randperm(n, generator=generator).to(device)
        self.place = torch.empty_like(self.order)
        self.place[self.order] = torch.arange(n, device=device)
        gram = eta1 * torch.eye(d, dtype=torch.float64, device=device)
        for block in _blocks(n):
            rows = unit_rows(X[block], device)
            gram += rows.T @ rows
        factor = torch.linalg.cholesky(gram)
        self.exact = torch.empty((n, d), dtype=torch.float64, device=device)
        for block in _blocks(n):
            rows = unit_rows(X[block], device)
            vectors = torch.linalg.solve_triangular(factor, rows.T, upper=False).T
            self.exact[self.place[block]] = vectors
        norms = torch.linalg.vector_norm(self.exact, dim=1)
        self.scales = 1.0 / (1.0 - norms**2)
        self.bounds = self._rounded(float(norms.max()))

    def _rounded(self, longest):
        n, d = self.exact.shape
        half = self.exact.device.type == "cuda"
        width = -(-d // 64) * 64 if half else d  # whole blocks for the tensor cores
        dtype = torch.float16 if half else torch.float32
        vectors = torch.zeros((n, width), dtype=dtype, device=self.exact.device)
        factor = 2.0 ** math.floor(math.log2(LONGEST / longest))
        off = 0.0
        for block in _blocks(n):
            scaled = factor * self.exact[block]
            vectors[block, :d] = scaled
            difference = scaled - vectors[block, :d]
            off = max(off, float(torch.linalg.vector_norm(difference, dim=1).max()))
        longest = 1.01 * factor * longest  # of the rounded ones, too
        # Tensor cores may drop bits of every partial sum: twice the bound of plain rounding.
        summing = 2 * (d + 8) * SINGLE_ROUNDOFF
        error = UP * longest * (2.0 * off + summing * longest)
        weights = (UP / (2.0 * factor**2) * self.scales).float()
        return Bounds(vectors, weights, error)

    @cached_property
    def filters(self) -> ModuleType:
        """The module that filters pairs: fused with the products where that works.

        The certificate stands on these filters, so compiled ones are tried against the plain first.
        """
        n, width = self.bounds.vectors.shape
        if self.exact.device.type == "cpu" or n < FUSED_FROM:
            return tiles
        if width not in _FUSED:
            try:
                from dssc.gpu import fused

                _FUSED[width] = fused if fused.agrees(self.bounds) else tiles
            except ImportError:
                _FUSED[width] = tiles
        return _FUSED[width]

    def products(self, rows, columns):
        """Return h at places in the factor's order, in float64."""
        return self.filters.dots(self.exact, rows, columns)


def unit_rows(rows, device):
    """Return some samples in float64 on a device, scaled to unit norm."""
    rows = rows.toarray() if sparse.issparse(rows) else rows
    rows = torch.as_tensor(rows).to(device).double()
    rows = rows / rows.abs().amax(dim=1, keepdim=True)
    return rows / torch.linalg.vector_norm(rows, dim=1, keepdim=True)


def _blocks(n):
    return [slice(start, min(n, start + BLOCK)) for start in range(0, n, BLOCK)]
