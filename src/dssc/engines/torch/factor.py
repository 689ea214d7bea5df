"""Least squares regression as products of short vectors, on a device."""

import math
from functools import cached_property
from types import ModuleType
from typing import Any

import torch
from sklearn.utils import gen_batches
from torch import Tensor

from dssc.engines.torch import pair_filters
from dssc.engines.torch.coarse_bounds import SINGLE_ROUNDOFF, UP, coarse_bounds
from dssc.engines.torch.exact_rows import BLOCK, HeldRows, StreamedRows, unit_rows
from dssc.engines.torch.pair_filters import Bounds
from dssc.expression.factor import check_representable

# Bytes that a point needs besides its vectors: pairs, graphs, eigenvectors.
BYTES_PER_POINT = 4500
# Fewer points than this are filtered by plain products.
FUSED_FROM = 2048
# Compute capability of the first devices that the fused kernels are written for.
HOPPER = (9, 0)
# Whether the fused kernels work, by the width of the vectors and whether signs count.
_FUSED_WORKS: dict[tuple[int, bool], bool] = {}
# Norm that rounded vectors are scaled to: well inside the range of half precision.
LARGEST_NORM = 64.0


class TorchFactor:
    r"""The self-expression of (minC) as products ``h_ij = <f_i, f_j>``.

    See :class:`dssc.expression.LeastSquaresFactor`. There are two copies of the vectors: rounded
    ones, in half precision on a GPU, to search all products on the tensor cores, and float64 ones
    to compute those that matter.

    Attributes
    ----------
    order : tensor of shape (n,)
        A fixed shuffle of the samples; all other attributes are in that order.
    exact : HeldRows or StreamedRows
        The vectors f in float64, held or computed when needed.
    bounds : Bounds
        The vectors less their mean, times a power of two and rounded, and what turns their products
        into upper bounds
        on ``|h_ij| (s_i + s_j) / 2``, s the scales; on its positive part if signs count.
    scales : tensor of shape (n,), float64
        ``1 / (1 - h_ii)``; one for an infinite eta1, whose vectors are the samples.
    """

    def __init__(self, X: Any, eta1: float, signed: bool, device: torch.device):
        check_representable(eta1)
        n, d = X.shape
        self.signed = signed
        generator = torch.Generator().manual_seed(0)
        self.order = torch.randperm(n, generator=generator).to(device)
        self.place = torch.argsort(self.order)
        cholesky = None if math.isinf(eta1) else self._cholesky(X, eta1, device)
        rows_of = StreamedRows if self._is_short_of_memory(n, d, device) else HeldRows
        self.exact = rows_of(X, cholesky, self.place)
        norms = torch.cat([part.norm(dim=1) for _, part in self.exact.parts()])
        is_limit = math.isinf(eta1)
        self.scales = torch.ones_like(norms) if is_limit else 1.0 / (1.0 - norms**2)
        self.bounds = self._rounded(d)

    @staticmethod
    def _cholesky(X: Any, eta1: float, device: torch.device) -> Tensor:
        """Return the lower triangular L with ``X'X + eta1 I = L L'``."""
        n, d = X.shape
        gram = eta1 * torch.eye(d, dtype=torch.float64, device=device)
        for block in gen_batches(n, BLOCK):
            rows = unit_rows(X[block], device)
            gram += rows.T @ rows
        return torch.linalg.cholesky(gram)

    @staticmethod
    def _is_short_of_memory(n: int, d: int, device: torch.device) -> bool:
        """Return whether vectors in float64 would leave too little memory for everything else."""
        if device.type != "cuda":
            return False
        free, _ = torch.cuda.mem_get_info(device)
        free += torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return n * (8 * d + 2 * d + BYTES_PER_POINT) > free

    def _rounded(self, d: int) -> Bounds:
        """Return the bounds.

        Vectors share a direction in most data, and more so for large eta1. With the mean m taken
        out, ``f = m + g``, the product of two vectors is the one of their g plus a term for each,
        ``<m, g> + |m|^2 / 2``, and only the first is rounded to half precision.
        """
        n, device = len(self.scales), self.scales.device
        half = device.type == "cuda"
        width = -(-d // 128) * 128 if half else d  # whole blocks for the tensor cores
        dtype = torch.float16 if half else torch.float32
        mean = torch.zeros(d, dtype=torch.float64, device=device)
        for _, part in self.exact.parts():
            mean += part.sum(dim=0) / n
        norms = torch.cat([(part - mean).norm(dim=1) for _, part in self.exact.parts()])
        factor = 2.0 ** math.floor(math.log2(LARGEST_NORM / (float(norms.max()) or 1.0)))
        vectors = torch.zeros((n, width), dtype=dtype, device=device)
        offsets = torch.empty(n, dtype=torch.float64, device=device)
        off = torch.zeros((), dtype=torch.float64, device=device)
        for block, part in self.exact.parts():
            scaled = factor * (part - mean)
            vectors[block, :d] = scaled
            offsets[block] = factor * (scaled @ mean) + factor**2 * mean.dot(mean) / 2
            difference = (scaled - vectors[block, :d]).norm(dim=1)
            off = torch.maximum(off, (difference / (factor * norms[block]).clamp(min=1e-30)).max())
        # Tensor cores may drop bits of every partial sum: twice the bound of plain rounding.
        summing = 2 * (d + 8) * SINGLE_ROUNDOFF
        # Two vectors of norms a and b err by at most 2 share a b <= share (a^2 + b^2).
        share = 1.01 * (1.01 * float(off) + summing / 2)
        squares = (factor * norms) ** 2
        adding = 4 * SINGLE_ROUNDOFF * (offsets.abs() + squares)
        errors = (UP * (share * squares + adding)).float()
        weights = (UP / (2.0 * factor**2) * self.scales).float()
        units = torch.ones_like(weights)
        return Bounds(vectors, units, offsets.float(), errors, weights, self.signed)

    @cached_property
    def coarse(self) -> Bounds:
        """Bounds that are never below the others and quicker to compute; the same ones on a CPU."""
        return self.bounds if self.scales.device.type == "cpu" else coarse_bounds(self.bounds)

    @cached_property
    def filters(self) -> ModuleType:
        """The module that filters pairs: fused with the products where that works."""
        if self.scales.device.type == "cpu" or len(self.scales) < FUSED_FROM:
            return pair_filters
        if not _fused_works(self.bounds, self.coarse):
            return pair_filters
        from dssc.engines.torch import pair_filters_triton

        return pair_filters_triton

    def products(self, rows: Tensor, columns: Tensor) -> Tensor:
        """Return h at places in the factor's order, in float64."""
        return self.exact.dots(rows, columns, self.filters.dots)


def _fused_works(bounds: Bounds, coarse: Bounds) -> bool:
    """Return whether the fused kernels work for some bounds.

    The certificate relies on these filters, so compiled ones are first compared with plain ones.
    """
    kind = bounds.vectors.shape[1], bounds.signed
    if torch.cuda.get_device_capability(bounds.weights.device) < HOPPER:
        return False
    if kind not in _FUSED_WORKS:
        try:
            from dssc.engines.torch import pair_filters_triton

            _FUSED_WORKS[kind] = pair_filters_triton.agrees(bounds, coarse, 1e-4)
        except ImportError:
            _FUSED_WORKS[kind] = False
    return _FUSED_WORKS[kind]
