"""Which clusters touch."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from dssc.contacts import find_contacts
from dssc.graph import as_graph
from dssc.plotting.models import axes_or_current, fitted_attribute, is_model, number_ticks
from dssc.separation import Separation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Share of the smaller cluster's affinity that is shown at full strength.
FULL_STRENGTH = 0.25


def plot_contacts(
    affinity: Any,
    labels: ArrayLike | None = None,
    *,
    separation: Separation | None = None,
    ax: "Axes | None" = None,
    title: str | None = None,
) -> "Axes":
    """Show the affinity between clusters, as a share of that of the smaller one.

    Parameters
    ----------
    affinity : fitted model, array-like or sparse matrix of shape (n_samples, n_samples)
        A model, or its affinity.
    labels : array-like of shape (n_samples,), optional
        Clusters as integers from 0, needed with an affinity; samples with -1 are left out.
    separation : Separation, optional
        What ``ADSSC.separation()`` returns; pairs that are proved to be separate get a dot.
    ax : matplotlib Axes, optional
        Axes to draw on; the current axes when not given.
    title : str, optional
        Title of the axes.

    Returns
    -------
    ax : matplotlib Axes
        The axes drawn on: a row and a column per cluster.
    """
    if is_model(affinity):
        labels = fitted_attribute(affinity, "labels_") if labels is None else labels
        affinity = fitted_attribute(affinity, "affinity_matrix_")
    elif labels is None:
        raise ValueError("labels are needed with an affinity: give a model's labels_")
    ax = axes_or_current(ax)
    clusters = np.asarray(labels)
    kept = np.flatnonzero(clusters >= 0)
    graph = as_graph(affinity)[kept][:, kept]
    shares = find_contacts(graph, clusters[kept], int(clusters.max()) + 1).shares
    ax.imshow(shares, cmap="Blues", vmin=0.0, vmax=FULL_STRENGTH, interpolation="nearest")
    if separation is not None:
        rows, columns = np.nonzero(separation.proved & ~np.eye(len(shares), dtype=bool))
        ax.scatter(columns, rows, s=8, color="0.4")
    ax.set(xlabel="cluster", ylabel="cluster", title=title)
    number_ticks(ax.xaxis, ax.yaxis)
    return ax
