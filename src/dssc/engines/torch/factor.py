"""Least squares regression as products of short vectors, on a device."""

import math
from collections.abc import Iterator
from functools import cached_property
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from dssc._progress import Advance
from dssc.engines.torch import pair_filters
from dssc.engines.torch.coarse_bounds import SINGLE_ROUNDOFF, UP, coarse_bounds
from dssc.engines.torch.exact_rows import HeldRows, StreamedRows, free_bytes
from dssc.engines.torch.pair_filters import Bounds
from dssc.engines.torch.sample_blocks import SampleBlocks, unit_rows
from dssc.expression.factor import check_representable

# Bytes that a point needs besides its vectors: pairs, graphs, eigenvectors.
BYTES_PER_POINT = 4500
# The largest share of the free memory that vectors in float64 and all of this may fill.
MOST_FILLED = 0.9
# How often samples are read until all is known.
N_READS = 4
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

    def __init__(
        self,
        X: Any,
        eta1: float,
        signed: bool,
        device: torch.device,
        advance: Advance = lambda amount: None,
    ):
        check_representable(eta1)
        n, d = X.shape
        self.signed, self._advance = signed, advance
        generator = torch.Generator().manual_seed(0)
        self.order = torch.randperm(n, generator=generator).to(device)
        self.place = torch.argsort(self.order)
        is_streamed = self._is_short_of_memory(n, d, device)
        samples = SampleBlocks(X, device, staged=is_streamed)
        is_limit = math.isinf(eta1)
        cholesky = None if is_limit else self._cholesky(samples, eta1)
        rows_of = StreamedRows if is_streamed else HeldRows
        self.exact = rows_of(samples, cholesky, self.place)
        norms, mean = self._norms_and_mean()
        self.scales = torch.ones_like(norms) if is_limit else 1.0 / (1.0 - norms**2)
        self.bounds = self._rounded(mean)

    def _cholesky(self, samples: SampleBlocks, eta1: float) -> Tensor:
        """Return the lower triangular L with ``X'X + eta1 I = L L'``."""
        gram = eta1 * torch.eye(samples.shape[1], dtype=torch.float64, device=samples.device)
        for _, raw in samples.read(range(samples.n_blocks)):
            rows = unit_rows(raw)
            gram += rows.T @ rows
            self._advance(len(rows))
        return torch.linalg.cholesky(gram)

    @staticmethod
    def _is_short_of_memory(n: int, d: int, device: torch.device) -> bool:
        """Return whether vectors in float64 would leave too little memory for everything else."""
        free = free_bytes(device)
        # Besides float64, vectors are held in half precision and in eight bits.
        return free is not None and n * ((8 + 2 + 1) * d + BYTES_PER_POINT) > MOST_FILLED * free

    def _parts(self) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield places in the order and the vectors there, for all samples in turn."""
        for places, part in self.exact.parts():
            yield places, part
            self._advance(len(part))

    def _norms_and_mean(self) -> tuple[Tensor, Tensor]:
        """Return the norms of the vectors and their mean."""
        n, d = self.exact.samples.shape
        norms = torch.empty(n, dtype=torch.float64, device=self.place.device)
        mean = norms.new_zeros(d)
        for places, part in self._parts():
            norms[places] = part.norm(dim=1)
            mean += part.sum(dim=0) / n
        return norms, mean

    def _rounded(self, mean: Tensor) -> Bounds:
        """Return the bounds.

        Vectors share a direction in most data, and more so for large eta1. With the mean m taken
        out, ``f = m + g``, the product of two vectors is the one of their g plus a term for each,
        ``<m, g> + |m|^2 / 2``, and only the first is rounded to half precision.
        """
        n, d, device = len(self.scales), len(mean), mean.device
        half = device.type == "cuda"
        width = -(-d // 128) * 128 if half else d  # whole blocks for the tensor cores
        dtype = torch.float16 if half else torch.float32
        norms, offsets = torch.empty((2, n), dtype=torch.float64, device=device)
        for places, part in self._parts():
            norms[places] = (part - mean).norm(dim=1)
        factor = 2.0 ** math.floor(math.log2(LARGEST_NORM / (float(norms.max()) or 1.0)))
        vectors = torch.zeros((n, width), dtype=dtype, device=device)
        off = torch.zeros((), dtype=torch.float64, device=device)
        for places, part in self._parts():
            scaled = factor * (part - mean)
            rounded = scaled.to(dtype)
            vectors[places, :d] = rounded
            offsets[places] = factor * (scaled @ mean) + factor**2 * mean.dot(mean) / 2
            difference = (scaled - rounded).norm(dim=1)
            off = torch.maximum(off, (difference / (factor * norms[places]).clamp(min=1e-30)).max())
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
