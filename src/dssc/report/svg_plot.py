"""A small SVG picture with two axes."""

from collections.abc import Callable, Iterable
from html import escape

import numpy as np

from dssc._typing import Array

# Space around the plot.
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 34, 40
# About this many numbers along an axis.
TICKS = 5


class SvgPlot:
    """A plot under construction: marks are added in the order of the calls.

    Parameters
    ----------
    width, height : int
        Size of the picture.
    x_range, y_range : tuple of two floats
        Smallest and largest value of each axis.
    """

    def __init__(
        self, width: int, height: int, x_range: tuple[float, float], y_range: tuple[float, float]
    ):
        self.width, self.height = width, height
        self.right, self.bottom = width - RIGHT, height - BOTTOM
        self.x = _scale(x_range, LEFT, self.right)
        self.y = _scale(y_range, self.bottom, TOP)
        self.parts: list[str] = []

    def y_ticks(self, values: Iterable[float]) -> None:
        """Draw a line across the plot for each value, with its number."""
        for value in values:
            y = self.y(value)
            self.parts.append(
                f'<path class="grid" d="M{LEFT} {y:.1f}H{self.right}"/>'
                f'<text class="tick" x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">'
                f"{value:g}</text>"
            )

    def x_ticks(self, values: Iterable[float]) -> None:
        """Write numbers below the plot."""
        for value in values:
            self.parts.append(
                f'<text class="tick" x="{self.x(value):.1f}" y="{self.bottom + 22}" '
                f'text-anchor="middle">{value:g}</text>'
            )

    def stem(self, x: float, low: float, high: float, kind: str = "") -> None:
        """Draw a vertical line between two values."""
        self.parts.append(
            f'<path class="stem {kind}" d="M{self.x(x):.1f} {self.y(low):.1f}V{self.y(high):.1f}"/>'
        )

    def dot(self, x: float, y: float, radius: float, text: str, kind: str = "") -> None:
        """Draw a dot with a text that appears under the pointer."""
        self.parts.append(
            f'<circle class="mark {kind}" cx="{self.x(x):.1f}" cy="{self.y(y):.1f}" '
            f'r="{radius:.1f}"><title>{escape(text)}</title></circle>'
        )

    def line(self, x: Array, y: Array) -> None:
        """Connect points."""
        places = " ".join(f"{self.x(a):.1f},{self.y(b):.1f}" for a, b in zip(x, y, strict=True))
        self.parts.append(f'<polyline class="line" points="{places}"/>')

    def band(self, low: float, high: float) -> None:
        """Shade the space between two values of the vertical axis."""
        top, bottom = self.y(high), self.y(low)
        self.parts.append(
            f'<rect class="gap" x="{LEFT}" width="{self.right - LEFT}" y="{top:.1f}" '
            f'height="{max(1.0, bottom - top):.1f}"/>'
        )

    def cut(self, x: float, text: str, lift: int = 0) -> None:
        """Draw a dashed line at a value of the horizontal axis, with a text above it."""
        place = self.x(x)
        share = (place - LEFT) / (self.right - LEFT)
        anchor = "start" if share < 0.2 else "end" if share > 0.8 else "middle"
        self.parts.append(
            f'<path class="cut" d="M{place:.1f} {TOP - 6 - lift}V{self.bottom}"/>'
            f'<text class="label" x="{place:.1f}" y="{TOP - 12 - lift}" text-anchor="{anchor}">'
            f"{escape(text)}</text>"
        )

    def picture(self, name: str, description: str) -> str:
        """Return the picture, with a description for those who cannot see it."""
        return (
            f'<svg id="{name}" viewBox="0 0 {self.width} {self.height}" role="img" '
            f'aria-label="{escape(description, quote=True)}">{"".join(self.parts)}</svg>'
        )


def round_ticks(low: float, high: float, count: int = TICKS) -> Array:
    """Return about `count` round numbers from `low` to `high`."""
    step = max(high - low, 1e-300) / count
    unit = 10.0 ** np.floor(np.log10(step))
    step = unit * next(s for s in (1.0, 2.0, 5.0, 10.0) if s * unit >= step)
    first = np.ceil(low / step - 1e-9)
    return np.round(np.arange(first, high / step + 1e-9) * step, 12) + 0.0  # no negative zero


def count_ticks(low: int, high: int, most: int = 12) -> Array:
    """Return some of the integers from `low` to `high`."""
    return np.arange(low, high + 1, max(1, -(-(high - low + 1) // most)))


def _scale(values: tuple[float, float], start: float, end: float) -> Callable[[float], float]:
    low, high = values
    span = (high - low) or 1.0
    return lambda value: start + (value - low) / span * (end - start)
