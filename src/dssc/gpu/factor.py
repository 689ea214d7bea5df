"""Least squares regression as products of short vectors, on a device."""

import math
from functools import cached_property
from types import ModuleType

import torch

from dssc.gpu import tiles
from dssc.gpu.exact_rows import BLOCK, HeldRows, StreamedRows, blocks, unit_rows
from dssc.gpu.tiles import Bounds

BESIDE = 4500  # bytes a point needs besides its vectors: pairs, graphs, eigenvectors
FUSED_FROM = 2048  # points; fewer are filtered by plain products
HOPPER = (9, 0)  # the first devices whose copies of tiles the fused kernels are written for
_FUSED: dict[tuple[int, torch.dtype], bool] = {}  # by the width and type of the vectors
ROUGH, LARGEST = torch.float8_e4m3fn, 256.0
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
    exact : HeldRows or StreamedRows
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
        self.bounds = self._rounded(d, norms)

    @staticmethod
    def _is_short_of_memory(n, d, device):
        """Tell whether vectors in float64 would leave too little memory for everything else."""
        if device.type != "cuda":
            return False
        free, _ = torch.cuda.mem_get_info(device)
        free += torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return n * (8 * d + 2 * d + BESIDE) > free

    def _rounded(self, d, norms):
        n, device = len(self.scales), self.scales.device
        half = device.type == "cuda"
        width = -(-d // 128) * 128 if half else d  # whole blocks for the tensor cores
        dtype = torch.float16 if half else torch.float32
        vectors = torch.zeros((n, width), dtype=dtype, device=device)
        factor = 2.0 ** math.floor(math.log2(LONGEST / float(norms.max())))
        off = torch.zeros((), dtype=torch.float64, device=device)
        for block, part in self.exact.parts():
            scaled = factor * part
            vectors[block, :d] = scaled
            difference = (scaled - vectors[block, :d]).norm(dim=1)
            off = torch.maximum(off, (difference / (factor * norms[block])).max())
        # Tensor cores may drop bits of every partial sum: twice the bound of plain rounding.
        summing = 2 * (d + 8) * SINGLE_ROUNDOFF
        # Two vectors of norms a and b err by at most 2 share a b <= share (a^2 + b^2).
        share = 1.01 * (1.01 * float(off) + summing / 2)
        errors = (UP * share * (factor * norms) ** 2).float()
        weights = (UP / (2.0 * factor**2) * self.scales).float()
        return Bounds(vectors, errors, weights)

    @cached_property
    def rough(self) -> Bounds:
        """Bounds of half the bytes that may be too small: for guesses alone."""
        if self.filters is tiles:
            return self.bounds
        vectors, errors, weights = self.bounds
        smallest, largest = (float(part) for part in vectors.aminmax())
        factor = 2.0 ** math.floor(math.log2(LARGEST / max(-smallest, largest)))
        rough = torch.cat([(factor * part).to(ROUGH) for part in vectors.split(BLOCK)])
        bounds = Bounds(rough, torch.zeros_like(errors), weights / factor**2)
        return bounds if _is_fused(bounds, 1e-2) else self.bounds

    @cached_property
    def filters(self) -> ModuleType:
        """The module that filters pairs: fused with the products where that works."""
        if self.scales.device.type == "cpu" or len(self.scales) < FUSED_FROM:
            return tiles
        if not _is_fused(self.bounds, 1e-4):
            return tiles
        from dssc.gpu import fused

        return fused

    def products(self, rows, columns):
        """Return h at places in the factor's order, in float64."""
        return self.exact.dots(rows, columns, self.filters.dots)


def _is_fused(bounds, tolerance):
    """Tell whether fused kernels can be had for some bounds.

    The certificate stands on these filters, so compiled ones are tried against the plain first.
    """
    width, dtype = bounds.vectors.shape[1], bounds.vectors.dtype
    if torch.cuda.get_device_capability(bounds.weights.device) < HOPPER:
        return False
    if (width, dtype) not in _FUSED:
        try:
            from dssc.gpu import fused

            _FUSED[width, dtype] = fused.agrees(bounds, tolerance)
        except ImportError:
            _FUSED[width, dtype] = False
    return _FUSED[width, dtype]
