"""The spectral embedding in the plane."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from dssc.diagnostics import plane_layout, sample_points
from dssc.plotting.models import axes_or_current, cluster_colours, fitted_attribute, is_model

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Most points of a scatter plot, about.
MAX_POINTS = 2000


def plot_embedding(
    embedding: Any,
    labels: ArrayLike | None = None,
    *,
    n_clusters: int | None = None,
    random_state: int = 0,
    ax: "Axes | None" = None,
    title: str | None = None,
) -> "Axes":
    """Show the rows of a spectral embedding in the plane, laid out by t-SNE.

    Parameters
    ----------
    embedding : fitted model, or array-like of shape (n_samples, n_components)
        A model, or its `embedding_`.
    labels : array-like of shape (n_samples,), optional
        Labels of the points, each shown in its own colour; those of the model if one is given.
    n_clusters : int, optional
        Number of groups to expect; the number of labels or of components when not given.
    random_state : int, default=0
        Seed of the layout, and of the sample: at most about 2,000 points are drawn.
    ax : matplotlib Axes, optional
        Axes to draw on; the current axes when not given.
    title : str, optional
        Title of the axes.

    Returns
    -------
    ax : matplotlib Axes
        The axes drawn on.
    """
    if is_model(embedding):
        labels = fitted_attribute(embedding, "labels_") if labels is None else labels
        embedding = fitted_attribute(embedding, "embedding_")
    ax = axes_or_current(ax)
    U = np.asarray(embedding)
    names, groups = np.unique(np.zeros(len(U)) if labels is None else labels, return_inverse=True)
    if n_clusters is None:
        n_clusters = U.shape[1] if labels is None else len(names)
    points = sample_points(groups, len(names), MAX_POINTS, np.random.default_rng(random_state))
    positions, _ = plane_layout(U[points], n_clusters, random_state)
    colours = "tab:blue" if labels is None else cluster_colours(len(names))[groups[points]]
    ax.scatter(positions[:, 0], positions[:, 1], s=6, color=colours)
    ax.set(xticks=[], yticks=[], title=title)
    return ax
