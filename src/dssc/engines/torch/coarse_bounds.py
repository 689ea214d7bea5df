"""Bounds from vectors in eight bits, whose products cost half as much as those of sixteen."""

from functools import cache

import torch
from sklearn.utils import gen_batches
from torch import Tensor

from dssc.engines.torch.pair_filters import Bounds

# The largest number that vectors are scaled to.
LARGEST = 127.0
# Points that are rounded at once.
BLOCK = 1 << 16
# Unit roundoff of float32.
SINGLE_ROUNDOFF = 2.0**-24
# A factor that covers the rounding of a few operations in float32.
UP = 1.0 + 2.0**-20
# A share of a limit that covers the rounding of comparisons to float32.
ROUNDING = 2.0**-20


def coarse_bounds(bounds: Bounds) -> Bounds:
    """Return bounds that are never below given ones, from vectors in eight bits.

    Vectors are turned by a fixed orthogonal matrix first. Then no coordinate is much larger than
    the others, and rounding with one unit per vector changes all of them by little. Products of
    whole numbers have no rounding errors of their own.
    """
    n, width = bounds.vectors.shape
    turn = _orthogonal(width, bounds.vectors.device)
    vectors = torch.empty((n, width), dtype=torch.int8, device=turn.device)
    units, norms, off = (torch.empty(n, dtype=torch.float64, device=turn.device) for _ in range(3))
    for block in gen_batches(n, BLOCK):
        turned = bounds.vectors[block].double() @ turn
        unit = (turned.abs().amax(dim=1) / LARGEST).clamp(min=1e-30).float().double()
        rounded = torch.round(turned / unit[:, None])
        vectors[block], units[block] = rounded.to(torch.int8), unit
        norms[block] = turned.norm(dim=1)
        off[block] = (turned - unit[:, None] * rounded).norm(dim=1)
    # Products of vectors of norms a and b are off by at most share (2 + share) a b.
    share = 1.01 * float((off / norms.clamp(min=1e-30)).max())
    adding = 4 * SINGLE_ROUNDOFF * (bounds.offsets.double().abs() + norms**2)
    errors = bounds.errors.double() + share * (1.0 + share / 2.0) * norms**2 + adding
    return bounds._replace(vectors=vectors, units=units.float(), errors=(UP * errors).float())


@cache
def _orthogonal(size: int, device: torch.device) -> Tensor:
    """Return a fixed orthogonal matrix without large entries; making it takes milliseconds."""
    generator = torch.Generator(device).manual_seed(0)
    random = torch.empty((size, size), dtype=torch.float64, device=device)
    return torch.linalg.qr(random.normal_(generator=generator))[0]


def separated_limits(bounds: Bounds, limits: Tensor) -> tuple[Tensor, Tensor]:
    r"""Return c and d, so that pairs can be compared with their limits by two sums.

    Only pairs whose product is above ``c_i + c_j`` can have a bound above ``l_i + l_j``, and those
    whose product is below ``-(d_i + d_j)`` or, if signs count, for which ``d_i + d_j < 0``.
    """
    least, offsets = _least_sizes(bounds, limits), bounds.offsets.double()
    return (least - offsets).float(), (least if bounds.signed else least + offsets).float()


def either_limits(bounds: Bounds, thresholds: Tensor) -> Tensor:
    """Return a size for each point, so that pairs are compared with the smaller one of two.

    No other pair can have a bound above the mean of its thresholds.
    """
    return 2.0 * _least_sizes(bounds, thresholds / 2).float()


def _least_sizes(bounds: Bounds, limits: Tensor) -> Tensor:
    """Return b, so that a bound can be above ``l_i + l_j`` only for a size above ``b_i + b_j``.

    It is above them if the size is above ``(l_i + l_j) / (w_i + w_j) - e_i - e_j``. With
    ``r = l / w`` the ratio is

        (r_i + r_j) / 2 + (r_i - r_j) (w_i - w_j) / (2 (w_i + w_j)) ,

    and weights are nearly equal. With distances R and W from the medians of r and w, the second
    term is at most ``g_i + g_j``, ``g = W (R + max R) / (4 min w)``.
    """
    weights = bounds.weights.double()
    ratios = limits.double() / weights
    far = (ratios - ratios.median()).abs()
    spread = (weights - weights.median()).abs() * (far + far.max()) / (4.0 * weights.min())
    rounding = ROUNDING * (ratios.abs() + spread + bounds.offsets.double().abs())
    return ratios / 2 - spread - bounds.errors.double() - rounding
