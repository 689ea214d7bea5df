"""How often each cluster is found again."""

from typing import TYPE_CHECKING, Any

import numpy as np

from dssc.plotting.models import axes_or_current, call_of_model, is_model
from dssc.verdict import FOUND_AGAIN

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_stability(stability: Any, *, ax: "Axes | None" = None, title: str | None = None) -> "Axes":
    """Show how well each cluster is found again in halves of the points, the best first.

    Parameters
    ----------
    stability : fitted ADSSC, or Stability
        A model, or what its `stability` returns.
    ax : matplotlib Axes, optional
        Axes to draw on; the current axes when not given.
    title : str, optional
        Title of the axes; the mean when not given.

    Returns
    -------
    ax : matplotlib Axes
        The axes drawn on. The dashed line is the mean for points without clusters.
    """
    if is_model(stability):
        stability = call_of_model(stability, "stability")
    ax = axes_or_current(ax)
    found = np.nan_to_num(stability.clusters)
    order = np.argsort(-found, kind="stable")
    colours = np.where(found[order] >= FOUND_AGAIN, "tab:blue", "0.7")
    ax.bar(np.arange(len(found)), found[order], color=colours)
    ax.axhline(stability.chance, color="0.3", linestyle="--", linewidth=1)
    if len(found) <= 50:
        ax.set_xticks(range(len(found)), [str(cluster) for cluster in order])
    title = f"mean stability {stability.mean:.2f}" if title is None else title
    ax.set(xlabel="cluster", ylabel="found again", ylim=(0.0, 1.0), title=title)
    return ax
