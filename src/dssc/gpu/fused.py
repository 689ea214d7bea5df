"""Filters over all pairs of points, fused with their products on the tensor cores.

The kernels do what :mod:`dssc.gpu.tiles` does without ever writing a product to memory. A tile of
products stays in registers; what passes the filter is appended to one of many segments of a
buffer, whose ends are kept by atomic counters.
"""

import sys

import torch
import triton
import triton.language as tl

from dssc.gpu import tiles
from dssc.gpu.tiles import GROUP, Bounds

HEIGHT, TILE = 128, GROUP
# Two stages: with more, the loop over the depth was seen to be compiled wrongly (all sums zero).
SHAPE = {"HEIGHT": HEIGHT, "TILE": TILE, "DEPTH": 64, "num_warps": 8, "num_stages": 2}
CHECKED = 1024  # points the kernels are tried on
_HERE = sys.modules[__name__]
SWATH = 32  # columns of tiles that are gone through together, their operands in the cache
SEGMENTS = 4096


@triton.jit
def _tile_bounds(
    units, errors, p, q, rows, columns, n,
    WIDTH: tl.constexpr, HEIGHT: tl.constexpr, TILE: tl.constexpr, DEPTH: tl.constexpr,
):  # fmt: skip
    """Return the bounds of a tile; points beyond the last count as the last one."""
    rows, columns = tl.minimum(rows, n - 1), tl.minimum(columns, n - 1)
    depth = tl.arange(0, DEPTH)
    left = units + rows.to(tl.int64)[:, None] * WIDTH + depth[None, :]
    right = units + columns.to(tl.int64)[:, None] * WIDTH + depth[None, :]
    total = tl.zeros((HEIGHT, TILE), dtype=tl.float32)
    for start in range(0, WIDTH, DEPTH):
        total = tl.dot(tl.load(left + start), tl.trans(tl.load(right + start)), total)
    row_p, column_p = tl.load(p + rows), tl.load(p + columns)
    row_q, column_q = tl.load(q + rows), tl.load(q + columns)
    sizes = tl.abs(total) + (tl.load(errors + rows)[:, None] + tl.load(errors + columns)[None, :])
    return sizes * (row_p[:, None] * column_q[None, :] + row_q[:, None] * column_p[None, :])


@triton.jit
def _pairs_kernel(
    units, errors, p, q, thresholds, n, first, across, ends, room, out_places, out_bounds,
    JOINED: tl.constexpr, WIDTH: tl.constexpr, HEIGHT: tl.constexpr, TILE: tl.constexpr,
    DEPTH: tl.constexpr, SEGMENTS: tl.constexpr,
):  # fmt: skip
    number = tl.program_id(0)
    rows = number // across * HEIGHT + tl.arange(0, HEIGHT)
    columns = (first + number % across) * TILE + tl.arange(0, TILE)
    bounds = _tile_bounds(units, errors, p, q, rows, columns, n, WIDTH, HEIGHT, TILE, DEPTH)
    own = tl.load(thresholds + rows, mask=rows < n, other=float("inf"))
    others = tl.load(thresholds + columns, mask=columns < n, other=float("inf"))
    if JOINED:  # noqa: SIM108
        limits = own[:, None] + others[None, :]
    else:
        limits = tl.minimum(own[:, None], others[None, :])
    hits = (bounds > limits) & (rows[:, None] < columns[None, :]) & (columns[None, :] < n)
    if tl.max(tl.max(hits.to(tl.int32), axis=1), axis=0) > 0:
        segment = (number + first) % SEGMENTS
        counters = ends + segment + tl.zeros((HEIGHT, TILE), dtype=tl.int32)
        at = tl.atomic_add(counters, 1, mask=hits, sem="relaxed")
        kept = hits & (at < room)
        at = segment.to(tl.int64) * room + at
        places = (rows.to(tl.int64)[:, None] << 32) | columns.to(tl.int64)[None, :]
        tl.store(out_places + at, places, mask=kept)
        tl.store(out_bounds + at, bounds, mask=kept)


@triton.jit
def _maxima_kernel(
    units, errors, p, q, n, n_groups, tiles_a_group, out,
    WIDTH: tl.constexpr, HEIGHT: tl.constexpr, TILE: tl.constexpr, DEPTH: tl.constexpr,
):  # fmt: skip
    group = tl.program_id(1)
    rows = tl.program_id(0) * HEIGHT + tl.arange(0, HEIGHT)
    largest = tl.full((HEIGHT,), float("-inf"), dtype=tl.float32)
    for tile in range(group * tiles_a_group, (group + 1) * tiles_a_group):
        columns = tile * TILE + tl.arange(0, TILE)
        bounds = _tile_bounds(units, errors, p, q, rows, columns, n, WIDTH, HEIGHT, TILE, DEPTH)
        others = (rows[:, None] != columns[None, :]) & (columns[None, :] < n)
        largest = tl.maximum(largest, tl.max(tl.where(others, bounds, float("-inf")), axis=1))
    tl.store(out + rows.to(tl.int64) * n_groups + group, largest, mask=rows < n)


def group_maxima(bounds: Bounds, n_groups: int, tiles_a_group: int) -> torch.Tensor:
    """Return the largest bound of every point in each group of columns."""
    n, width = bounds.units.shape
    out = torch.empty((n, n_groups), dtype=torch.float32, device=bounds.p.device)
    _maxima_kernel[(triton.cdiv(n, HEIGHT), n_groups)](
        *bounds, n, n_groups, tiles_a_group, out, WIDTH=width, **SHAPE
    )
    return out


def pairs_above(bounds: Bounds, thresholds, joined: bool, capacity: int):
    """Return the pairs i < j whose bound is above a threshold, and their bounds.

    Room is made for `capacity` pairs; where that is not enough the search is run again with more.
    """
    n, width = bounds.units.shape
    device = bounds.p.device
    n_tiles = triton.cdiv(n, TILE)
    segments = min(SEGMENTS, n_tiles)
    room = capacity // segments + 64
    while True:
        ends = torch.zeros(segments, dtype=torch.int32, device=device)
        places = torch.empty(segments * room, dtype=torch.int64, device=device)
        values = torch.empty(segments * room, dtype=torch.float32, device=device)
        for first in range(0, n_tiles, SWATH):
            across = min(SWATH, n_tiles - first)
            down = triton.cdiv((first + across) * TILE, HEIGHT)
            _pairs_kernel[(down * across,)](
                *bounds, thresholds, n, first, across, ends, room, places, values,
                JOINED=joined, WIDTH=width, SEGMENTS=segments, **SHAPE,
            )  # fmt: skip
        longest = int(ends.max())
        if longest <= room:
            break
        room = longest + longest // 8
    held = torch.arange(room, device=device) < ends[:, None]
    at = torch.nonzero(held.view(-1)).view(-1)
    places = places[at]
    return places >> 32, places & 0xFFFFFFFF, values[at]


def agrees(bounds: Bounds) -> bool:
    """Tell whether the kernels find what the plain filters find, on the first points."""
    few = Bounds(*(part[:CHECKED] for part in bounds))
    largest = tiles.group_maxima(few, 1, CHECKED // GROUP)[:, 0]
    found = group_maxima(few, 1, CHECKED // GROUP)[:, 0]
    if not torch.allclose(found, largest, rtol=1e-4):
        return False
    counts = [len(f.pairs_above(few, 0.7 * largest, True, CHECKED)[0]) for f in (tiles, _HERE)]
    return abs(counts[0] - counts[1]) <= 2 + counts[0] // 100
