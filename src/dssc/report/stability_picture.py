"""How often each cluster is found again, as dots on a line."""

import numpy as np

from dssc._typing import Array
from dssc.report.svg_plot import SvgPlot
from dssc.stability import Stability
from dssc.verdict import FOUND_AGAIN

# Width of the picture, its height without dots, and the height per dot of a stack.
WIDTH, HEIGHT, STEP = 720, 106, 11
# Places along the line where dots are stacked, and most dots of a stack that keep their distance.
PLACES, HIGHEST = 60, 14


def stability_picture(stability: Stability) -> str:
    """Return a dot for each cluster at its stability, beside that of points without clusters."""
    known = np.flatnonzero(~np.isnan(stability.clusters))
    places = np.rint(stability.clusters[known] * PLACES).astype(int)
    heights = _stacked(places)
    top = max(2, int(heights.max(initial=0)) + 1)
    shown = min(top, HIGHEST)
    plot = SvgPlot(WIDTH, HEIGHT + STEP * shown, (0.0, 1.0), (0.0, float(top)))
    plot.parts.append(f'<path class="grid" d="M{plot.x(0):.0f} {plot.y(0):.0f}H{plot.right}"/>')
    plot.x_ticks([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    plot.cut(min(stability.chance, 1.0), f"without clusters {stability.chance:.2f}")
    for cluster, height in zip(known.tolist(), heights, strict=True):
        found = float(stability.clusters[cluster])
        kind = "own" if found >= FOUND_AGAIN else ""
        plot.dot(
            found,
            height + 0.5,
            5.0 if top <= HIGHEST else 3.0,
            f"cluster {cluster}: {found:.2f}",
            kind,
        )
    n_found = int(np.sum(stability.clusters[known] >= FOUND_AGAIN))
    return plot.picture(
        "stability",
        f"Overlap of each cluster with clusters of random halves: {n_found} of {len(known)} reach "
        f"{FOUND_AGAIN}; points without clusters reach {stability.chance:.2f} on average.",
    )


def _stacked(places: Array) -> Array:
    """Return the height of each dot above others at the same place."""
    heights = np.zeros(len(places), dtype=int)
    seen: dict[int, int] = {}
    for index, place in enumerate(places.tolist()):
        heights[index] = seen.get(place, 0)
        seen[place] = heights[index] + 1
    return heights
