"""Modularity and cluster sizes over the number of clusters, as pictures."""

import numpy as np

from dssc.exploring import Exploration
from dssc.report.svg_plot import SvgPlot, count_ticks, round_ticks

# Size of each picture.
WIDTH, HEIGHT = 720, 240
# Share of the range that is left empty above and below.
MARGIN = 0.08


def modularity_picture(exploration: Exploration, n_clusters: int) -> str:
    """Return the modularity of clusterings into several numbers of clusters."""
    counts, values = exploration.counts, exploration.modularity
    low, high = float(values.min()), float(values.max())
    margin = MARGIN * max(high - low, 0.01)
    plot = SvgPlot(WIDTH, HEIGHT, _x_range(exploration), (low - margin, high + margin))
    plot.y_ticks(round_ticks(low - margin, high + margin, 4))
    plot.x_ticks(count_ticks(int(counts[0]), int(counts[-1])))
    best = int(counts[np.argmax(values)])
    plot.cut(best, f"highest at {best}")
    plot.line(counts, values)
    for k, value in zip(counts.tolist(), values, strict=True):
        kind = "own" if k == n_clusters else ""
        plot.dot(k, value, 5.0, f"{k} clusters: modularity {value:.4f}", kind)
    return plot.picture("modularity", f"Modularity by number of clusters, highest at {best}.")


def sizes_picture(exploration: Exploration, n_clusters: int) -> str:
    """Return the sizes of the clusters of every clustering."""
    counts = exploration.counts
    largest = max(int(sizes.max()) for sizes in exploration.sizes)
    plot = SvgPlot(WIDTH, HEIGHT, _x_range(exploration), (0.0, largest * (1 + MARGIN)))
    plot.y_ticks(round_ticks(0.0, largest * (1 + MARGIN), 4))
    plot.x_ticks(count_ticks(int(counts[0]), int(counts[-1])))
    for k, sizes in zip(counts.tolist(), exploration.sizes, strict=True):
        kind = "own" if k == n_clusters else ""
        for size in np.unique(sizes).tolist():
            plot.dot(k, size, 3.0, f"{k} clusters: one of {size:,} points", f"faint {kind}")
    return plot.picture(
        "sizes",
        f"Sizes of the clusters, for {counts[0]} to {counts[-1]} clusters; the largest has "
        f"{largest:,} points.",
    )


def _x_range(exploration: Exploration) -> tuple[float, float]:
    return float(exploration.counts[0]) - 0.5, float(exploration.counts[-1]) + 0.5
