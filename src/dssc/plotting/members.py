"""Members of the clusters as images."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from dssc.diagnostics import central_and_doubtful, certainty
from dssc.images import check_images
from dssc.plotting.models import axes_or_current, fitted_attribute, is_model

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_clusters(
    images: ArrayLike,
    labels: Any,
    embedding: ArrayLike | None = None,
    *,
    n_members: int = 8,
    ax: "Axes | None" = None,
    title: str | None = None,
) -> "Axes":
    """Show the most central members of each cluster next to the most doubtful ones.

    Central members lie closest to the mean direction of their cluster in the embedding; doubtful
    ones have the smallest lead over the next cluster.

    Parameters
    ----------
    images : array-like of shape (n_samples, height, width) or (n_samples, height, width, 3)
        The samples as images.
    labels : fitted model, or array-like of shape (n_samples,)
        A model, or the clusters of the samples, integers from 0; samples with -1 are not shown.
    embedding : array-like of shape (n_samples, n_components), optional
        A fitted model's `embedding_`; needed with labels, that of the model if one is given.
    n_members : int, default=8
        Number of central and of doubtful members per cluster.
    ax : matplotlib Axes, optional
        Axes to draw on; the current axes when not given.
    title : str, optional
        Title of the axes.

    Returns
    -------
    ax : matplotlib Axes
        The axes drawn on: a row for each cluster.
    """
    if is_model(labels):
        embedding = fitted_attribute(labels, "embedding_") if embedding is None else embedding
        labels = fitted_attribute(labels, "labels_")
    elif embedding is None:
        raise ValueError("embedding is needed with labels: give a model's embedding_")
    ax = axes_or_current(ax)
    has_cluster = np.asarray(labels) >= 0
    pictures, clusters = check_images(images)[has_cluster], np.asarray(labels)[has_cluster]
    n_clusters, (height, width) = clusters.max() + 1, pictures.shape[1:3]
    closeness, margin = certainty(np.asarray(embedding)[has_cluster], clusters, n_clusters)
    shown = central_and_doubtful(closeness, margin, clusters, n_clusters, n_members)
    gap = max(1, width // 2)
    starts = (0, n_members * width + gap)
    page = np.full((n_clusters * height, 2 * n_members * width + gap, *pictures.shape[3:]), np.nan)
    scale = float(pictures.max()) or 1.0
    for start, kind in zip(starts, shown, strict=True):
        for cluster, members in enumerate(kind):
            for column, member in enumerate(members):
                left = start + column * width
                rows = slice(cluster * height, (cluster + 1) * height)
                page[rows, left : left + width] = pictures[member] / scale
    page = np.nan_to_num(page, nan=1.0) if page.ndim == 3 else np.ma.masked_invalid(page)
    ax.imshow(page, cmap="gray", interpolation="nearest")
    ax.set(
        yticks=(np.arange(n_clusters) + 0.5) * height,
        yticklabels=[str(cluster) for cluster in range(n_clusters)],
        xticks=[start + n_members * width / 2 for start in starts],
        xticklabels=["central", "doubtful"],
        ylabel="cluster",
        title=title,
    )
    return ax
