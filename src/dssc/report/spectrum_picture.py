"""The spectrum as a picture: one mark per eigenvalue, and the gap after the first n_clusters."""

import numpy as np

from dssc._typing import Array
from dssc.report.svg_plot import SvgPlot, count_ticks
from dssc.spectral.eigenvalues import SMALLEST_GAP

# Size of the picture.
WIDTH, HEIGHT = 720, 270


def spectrum_picture(values: Array, n_clusters: int) -> str:
    """Return the leading eigenvalues as an SVG picture."""
    count, low = len(values), _floor(values.min())
    plot = SvgPlot(WIDTH, HEIGHT, (0.5, count + 0.5), (low, 1.0))
    radius = min(5.0, 0.35 * (plot.x(2) - plot.x(1)))
    description = f"{count} eigenvalues from {values[0]:.3f} to {values[-1]:.3f}."
    plot.y_ticks(np.round(np.linspace(low, 1.0, 5), 6))
    plot.x_ticks(count_ticks(1, count))
    if count > n_clusters:
        text = gap_text(values, n_clusters)
        if values[n_clusters - 1] - values[n_clusters] >= SMALLEST_GAP:
            plot.band(values[n_clusters], values[n_clusters - 1])
        plot.cut(n_clusters + 0.5, text)
        description += f" There is {text}."
    for number, value in enumerate(values, start=1):
        kind = "own" if number <= n_clusters else ""
        plot.stem(number, low, value, kind)
        plot.dot(number, value, radius, f"eigenvalue {number}: {value:.5f}", kind)
    return plot.picture("spectrum", description)


def gap_text(values: Array, number: int) -> str:
    """Return in words how far apart an eigenvalue and the next one are."""
    gap = values[number - 1] - values[number]
    return f"no gap after {number}" if gap < SMALLEST_GAP else f"a gap of {gap:.2g} after {number}"


def spectrum_text(values: Array, n_clusters: int) -> str:
    """Return what the eigenvalues say about the number of clusters."""
    if len(values) <= n_clusters:
        return "There are as many clusters as points, so there is no gap to look at."
    gaps = values[:-1] - values[1:]
    gaps[: min(1, n_clusters - 1)] = 0.0  # one cluster is no alternative to several
    widest = int(np.argmax(gaps)) + 1
    if gaps[widest - 1] < SMALLEST_GAP:
        return "There is no gap among the eigenvalues shown: they do not support any number."
    if widest == n_clusters:
        return (
            f"The widest gap, {gaps[widest - 1]:.2g}, is after {n_clusters}: this number of "
            "clusters is natural for the affinity."
        )
    return (
        f"There is {gap_text(values, n_clusters)}; the widest, {gaps[widest - 1]:.2g}, is after "
        f"{widest}. If you are free to choose the number, look at {widest} clusters too."
    )


def _floor(smallest: float) -> float:
    """Return a round number below the smallest eigenvalue, and below one."""
    distance = max(1.0 - smallest, 1e-6) * 1.05
    unit = 10.0 ** np.floor(np.log10(distance))
    steps = (1.0, 2.0, 4.0, 6.0, 8.0, 10.0, 20.0)
    return float(1.0 - unit * next(s for s in steps if s * unit >= distance))
