"""The spectrum as a picture: one mark per eigenvalue, and the gap after the first n_clusters."""

import numpy as np

from dssc._typing import Array

# Size of the picture.
WIDTH, HEIGHT = 720, 260
# Margins around the plot.
LEFT, RIGHT, TOP, BOTTOM = 64, 12, 34, 36


def spectrum_picture(values: Array, n_clusters: int) -> str:
    """Return the leading eigenvalues as an SVG picture."""
    count = len(values)
    low = _floor(values.min())
    step = (WIDTH - LEFT - RIGHT) / count

    def x(index: int) -> float:
        return LEFT + (index + 0.5) * step

    def y(value: float) -> float:
        return TOP + (1.0 - value) / (1.0 - low) * (HEIGHT - TOP - BOTTOM)

    marks = "".join(
        f'<line class="stem{" own" if index < n_clusters else ""}" x1="{x(index):.1f}" '
        f'x2="{x(index):.1f}" y1="{y(low):.1f}" y2="{y(value):.1f}"/>'
        f'<circle class="mark{" own" if index < n_clusters else ""}" cx="{x(index):.1f}" '
        f'cy="{y(value):.1f}" r="{min(5.0, 0.35 * step):.1f}"><title>eigenvalue {index + 1}: '
        f"{value:.5f}</title></circle>"
        for index, value in enumerate(values)
    )
    gap = ""
    description = f"{count} eigenvalues from {values[0]:.3f} to {values[-1]:.3f}."
    if count > n_clusters:
        above, below = values[n_clusters - 1], values[n_clusters]
        middle = (x(n_clusters - 1) + x(n_clusters)) / 2
        gap = (
            f'<rect class="gap" x="{LEFT}" width="{WIDTH - LEFT - RIGHT}" y="{y(above):.1f}" '
            f'height="{max(1.0, y(below) - y(above)):.1f}"/>'
            f'<line class="cut" x1="{middle:.1f}" x2="{middle:.1f}" y1="{TOP - 6}" '
            f'y2="{HEIGHT - BOTTOM}"/>'
            f'<text class="label" x="{middle:.1f}" y="{TOP - 12}" text-anchor="middle">'
            f"gap {above - below:.2g} after {n_clusters}</text>"
        )
        description += f" The gap after {n_clusters} is {above - below:.2g}."
    axes = "".join(
        f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(tick):.1f}" '
        f'y2="{y(tick):.1f}"/>'
        f'<text class="tick" x="{LEFT - 8}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>'
        for tick in np.round(np.linspace(low, 1.0, 5), 6)
    )
    every = max(1, round(count / 12))
    ticks = "".join(
        f'<text class="tick" x="{x(index):.1f}" y="{HEIGHT - BOTTOM + 24}" text-anchor="middle">'
        f"{index + 1}</text>"
        for index in range(0, count, every)
    )
    return (
        f'<svg id="spectrum" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{description}">'
        f"{gap}{axes}{marks}{ticks}</svg>"
    )


def _floor(smallest: float) -> float:
    """Return a round number below the smallest eigenvalue, and below one."""
    distance = max(1.0 - smallest, 1e-6) * 1.05
    unit = 10.0 ** np.floor(np.log10(distance))
    steps = (1.0, 2.0, 4.0, 6.0, 8.0, 10.0, 20.0)
    return float(1.0 - unit * next(s for s in steps if s * unit >= distance))
