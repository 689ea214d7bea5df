"""Clusters compared with known classes."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from dssc.confusion import confusion_matrix
from dssc.plotting.models import axes_or_current, fitted_attribute, is_model

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Most classes or clusters for which the counts are written, and for which they are named.
MOST_COUNTS, MOST_NAMES = 20, 50


def plot_confusion(
    labels: Any,
    labels_true: ArrayLike,
    *,
    ax: "Axes | None" = None,
    title: str | None = None,
) -> "Axes":
    """Show how many points of each class are in each cluster, matched along the diagonal.

    Parameters
    ----------
    labels : fitted model, or array-like of shape (n_samples,)
        A model, or clusters as integers from 0; samples with -1 are not counted.
    labels_true : array-like of shape (n_samples,)
        Known classes.
    ax : matplotlib Axes, optional
        Axes to draw on; the current axes when not given.
    title : str, optional
        Title of the axes; how many points are in the cluster of their class when not given.

    Returns
    -------
    ax : matplotlib Axes
        The axes drawn on: a row per class and a column per cluster. Colours are shares of a class.
    """
    if is_model(labels):
        labels = fitted_attribute(labels, "labels_")
    ax = axes_or_current(ax)
    clusters = np.asarray(labels)
    kept = clusters >= 0
    known = confusion_matrix(np.asarray(labels_true)[kept], clusters[kept], int(clusters.max()) + 1)
    shares = known.counts / np.maximum(known.counts.sum(axis=1, keepdims=True), 1)
    ax.imshow(shares, cmap="Blues", vmin=0.0, vmax=1.0, interpolation="nearest")
    if max(shares.shape) <= MOST_COUNTS:
        for row, column in np.argwhere(known.counts).tolist():
            colour = "white" if shares[row, column] > 0.5 else "black"
            count = str(known.counts[row, column])
            ax.text(column, row, count, ha="center", va="center", color=colour, fontsize="small")
    if max(shares.shape) <= MOST_NAMES:
        ax.set_xticks(range(len(known.clusters)), map(str, known.clusters))
        ax.set_yticks(range(len(known.classes)), known.classes)
    if title is None:
        title = f"{known.n_matched:,} of {known.counts.sum():,} in the cluster of their class"
    ax.set(xlabel="cluster", ylabel="class", title=title)
    return ax
