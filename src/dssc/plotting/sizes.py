"""Sizes of the clusters, and how confident their members are."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from dssc.plotting.models import axes_or_current, fitted_attribute, is_model, number_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Most clusters for which the confidence is written above the bars.
MOST_WRITTEN = 20


def plot_sizes(
    labels: Any,
    confidence: ArrayLike | None = None,
    *,
    ax: "Axes | None" = None,
    title: str | None = None,
) -> "Axes":
    """Show the size of each cluster as a bar, the darker the more confident its members are.

    Parameters
    ----------
    labels : fitted model, or array-like of shape (n_samples,)
        A model, or clusters as integers from 0; samples with -1 are not counted.
    confidence : array-like of shape (n_samples,), optional
        A share per sample, such as the `confidence_` of a model, which is taken if one is given.
    ax : matplotlib Axes, optional
        Axes to draw on; the current axes when not given.
    title : str, optional
        Title of the axes.

    Returns
    -------
    ax : matplotlib Axes
        The axes drawn on.
    """
    if is_model(labels):
        confidence = fitted_attribute(labels, "confidence_") if confidence is None else confidence
        labels = fitted_attribute(labels, "labels_")
    ax = axes_or_current(ax)
    labels = np.asarray(labels)
    kept = labels >= 0
    sizes = np.bincount(labels[kept])
    clusters = np.arange(len(sizes))
    if confidence is None:
        ax.bar(clusters, sizes, color="tab:blue")
    else:
        from matplotlib import colormaps

        sums = np.bincount(labels[kept], np.asarray(confidence)[kept])
        means = sums / np.maximum(sizes, 1)
        bars = ax.bar(clusters, sizes, color=colormaps["Blues"](0.15 + 0.75 * means))
        if len(sizes) <= MOST_WRITTEN:
            ax.bar_label(bars, [f"{mean:.0%}" for mean in means], fontsize="small")
    ax.set(xlabel="cluster", ylabel="samples", title=title)
    number_ticks(ax.xaxis)
    return ax
