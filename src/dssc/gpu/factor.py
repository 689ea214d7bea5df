"""Least squares regression as products of short vectors, on a device."""

import math
from functools import cached_property
from types import ModuleType

import torch

from dssc.gpu import tiles
from dssc.gpu.exact_rows import HeldRows, StreamedRows, blocks, unit_rows
from dssc.gpu.tiles import Bounds

BESIDE = 3000  # bytes a point needs besides its vectors: pairs, graphs, eigenvectors
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
    exact : ExactRows
        The vectors f in float64, held or computed when asked for.
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
        for block in blocks(n):
            rows = unit_rows(X[block], device)
            gram += rows.T @ rows
        cholesky = torch.linalg.cholesky(gram)
        rows_of = StreamedRows if self._is_short_of_memory(n, d, device) else HeldRows
        self.exact = rows_of(X, cholesky, self.place)
        norms = torch.cat([part.norm(dim=1) for _, part in self.exact.parts()])
        self.scales = 1.0 / (1.0 - norms**2)
        self.bounds = self._rounded(d, float(norms.max()))

    @staticmethod
    def _is_short_of_memory(n, d, device):
        """Tell whether vectors in float64 would leave too little memory for everything else."""
        if device.type != "cuda":
            return False
        free, _ = torch.cuda.mem_get_info(device)
        return n * (8 * d + 2 * d + BESIDE) > free

    def _rounded(self, d, longest):
        n, device = len(self.scales), self.scales.device
        half = device.type == "cuda"
        width = -(-d // 64) * 64 if half else d  # whole blocks for the tensor cores
        dtype = torch.float16 if half else torch.float32
        vectors = torch.zeros((n, width), dtype=dtype, device=device)
        factor = 2.0 ** math.floor(math.log2(LONGEST / longest))
        off = torch.zeros((), dtype=torch.float64, device=device)
        for block, part in self.exact.parts():
            scaled = factor * part
            vectors[block, :d] = scaled
            difference = scaled - vectors[block, :d]
            off = torch.maximum(off, difference.norm(dim=1).max())
        longest = 1.01 * factor * longest  # of the rounded ones, too
        # Tensor cores may drop bits of every partial sum: twice the bound of plain rounding.
        summing = 2 * (d + 8) * SINGLE_ROUNDOFF
        error = UP * longest * (2.0 * float(off) + summing * longest)
        weights = (UP / (2.0 * factor**2) * self.scales).float()
        return Bounds(vectors, weights, error)

    @cached_property
    def filters(self) -> ModuleType:
        """The module that filters pairs: fused with the products where that works.

        The certificate stands on these filters, so compiled ones are tried against the plain first.
        """
        n, width = self.bounds.vectors.shape
        if self.scales.device.type == "cpu" or n < FUSED_FROM:
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
        return self.exact.dots(rows, columns, self.filters.dots)
