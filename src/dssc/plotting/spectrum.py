"""The leading eigenvalues of an affinity."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from dssc.graph import as_graph
from dssc.plotting.models import axes_or_current, fitted_attribute, is_model
from dssc.spectral.eigenvalues import SMALLEST_GAP, leading_eigenvalues

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_spectrum(
    affinity: Any,
    n_clusters: int | None = None,
    *,
    embedding: ArrayLike | None = None,
    n_more: int = 6,
    ax: "Axes | None" = None,
    title: str | None = None,
) -> "Axes":
    """Show the leading eigenvalues of an affinity and the gap after the first `n_clusters`.

    Parameters
    ----------
    affinity : fitted model, array-like or sparse matrix of shape (n_samples, n_samples)
        The affinity, or a model that has one; it is normalised by its degrees.
    n_clusters : int, optional
        Number of clusters; that of the model if one is given.
    embedding : array-like of shape (n_samples, n_components), optional
        The leading eigenvectors of the affinity, if known: a fitted model's `embedding_`.
    n_more : int, default=6
        Number of eigenvalues to show after the first `n_clusters`, accurate to about three digits.
    ax : matplotlib Axes, optional
        Axes to draw on; the current axes when not given.
    title : str, optional
        Title of the axes; the size of the gap when not given.

    Returns
    -------
    ax : matplotlib Axes
        The axes drawn on.
    """
    if is_model(affinity):
        n_clusters = fitted_attribute(affinity, "n_clusters_") if n_clusters is None else n_clusters
        affinity = fitted_attribute(affinity, "affinity_matrix_")
    elif n_clusters is None:
        raise ValueError("n_clusters is needed with an affinity: give the number of clusters")
    ax = axes_or_current(ax)
    known = None if embedding is None else np.asarray(embedding)
    extra = max(1, n_clusters + n_more - (0 if known is None else known.shape[1]))
    values = leading_eigenvalues(as_graph(affinity), extra, known)[: n_clusters + n_more]
    numbers = np.arange(1, len(values) + 1)
    colours = np.where(numbers <= n_clusters, "tab:blue", "0.6")
    ax.vlines(numbers, values.min(), values, color=colours, linewidth=1)
    ax.scatter(numbers, values, color=colours, zorder=3)
    if len(values) > n_clusters:
        above, below = values[n_clusters - 1], values[n_clusters]
        has_gap = above - below >= SMALLEST_GAP
        if has_gap:
            ax.axhspan(below, above, color="tab:blue", alpha=0.12)
        words = f"gap {above - below:.3f}" if has_gap else "no gap"
        title = f"{words} after {n_clusters}" if title is None else title
    ax.set(xlabel="eigenvalue", title=title)
    return ax
