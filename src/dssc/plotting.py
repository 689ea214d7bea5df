"""Plots of a clustering on matplotlib axes; needs matplotlib, the extra ``dssc[plot]``."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from dssc._typing import Array, Matrix
from dssc.diagnostics import central_and_doubtful, certainty, plane_layout, sample_points
from dssc.exploration_plot import plot_exploration as plot_exploration
from dssc.graph import as_graph, as_matrix
from dssc.images import check_images
from dssc.spectral.eigenvalues import leading_eigenvalues

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Most pixels per side of an affinity's image: more would not be visible, and single entries of a
# large sparse matrix would vanish.
MAX_PIXELS = 400
# Most points of a scatter plot, about.
MAX_POINTS = 2000


def plot_affinity(
    affinity: Any,
    labels: ArrayLike | None = None,
    *,
    ax: "Axes | None" = None,
    title: str | None = None,
) -> "Axes":
    """Show the magnitude of an affinity as an image, sorted by label when labels are given.

    Parameters
    ----------
    affinity : fitted model, array-like or sparse matrix of shape (n_samples, n_samples)
        The affinity, or a model that has one. With more than 400 samples, a pixel shows the
        largest entry that it covers.
    labels : array-like of shape (n_samples,), optional
        Labels to sort the points by; lines separate the groups. Those of the model if one is given.
    ax : matplotlib Axes, optional
        Axes to draw on; the current axes when not given.
    title : str, optional
        Title of the axes.

    Returns
    -------
    ax : matplotlib Axes
        The axes drawn on.
    """
    if _is_model(affinity):
        labels = _fitted(affinity, "labels_") if labels is None else labels
        affinity = _fitted(affinity, "affinity_matrix_")
    ax = _axes(ax)
    A = as_matrix(affinity)
    n = A.shape[0]
    order = np.arange(n)
    if labels is not None:
        labels = np.asarray(labels)
        order = np.argsort(labels, kind="stable")
        _, sizes = np.unique(labels, return_counts=True)
        for boundary in np.cumsum(sizes)[:-1] - 0.5:
            ax.axhline(boundary, color="tab:red", linewidth=0.5)
            ax.axvline(boundary, color="tab:red", linewidth=0.5)
    pixels = pooled_pixels(A, order)
    # The few largest entries would make the others invisible.
    top = np.quantile(pixels[pixels > 0], 0.95) if pixels.any() else 1.0
    extent = (-0.5, n - 0.5, n - 0.5, -0.5)
    ax.imshow(pixels, cmap="Blues", vmin=0.0, vmax=top, interpolation="nearest", extent=extent)
    ax.set(xticks=[], yticks=[], title=title)
    return ax


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
    if _is_model(affinity):
        n_clusters = _fitted(affinity, "n_clusters_") if n_clusters is None else n_clusters
        affinity = _fitted(affinity, "affinity_matrix_")
    elif n_clusters is None:
        raise ValueError("n_clusters is needed with an affinity: give the number of clusters")
    ax = _axes(ax)
    known = None if embedding is None else np.asarray(embedding)
    extra = max(1, n_clusters + n_more - (0 if known is None else known.shape[1]))
    values = leading_eigenvalues(as_graph(affinity), extra, known)[: n_clusters + n_more]
    numbers = np.arange(1, len(values) + 1)
    colours = np.where(numbers <= n_clusters, "tab:blue", "0.6")
    ax.vlines(numbers, values.min(), values, color=colours, linewidth=1)
    ax.scatter(numbers, values, color=colours, zorder=3)
    if len(values) > n_clusters:
        above, below = values[n_clusters - 1], values[n_clusters]
        ax.axhspan(below, above, color="tab:blue", alpha=0.12)
        title = f"gap {above - below:.3f} after {n_clusters}" if title is None else title
    ax.set(xlabel="eigenvalue", title=title)
    return ax


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
    if _is_model(embedding):
        labels = _fitted(embedding, "labels_") if labels is None else labels
        embedding = _fitted(embedding, "embedding_")
    ax = _axes(ax)
    U = np.asarray(embedding)
    names, groups = np.unique(np.zeros(len(U)) if labels is None else labels, return_inverse=True)
    if n_clusters is None:
        n_clusters = U.shape[1] if labels is None else len(names)
    points = sample_points(groups, len(names), MAX_POINTS, np.random.default_rng(random_state))
    positions, _ = plane_layout(U[points], n_clusters, random_state)
    colours = "tab:blue" if labels is None else _colours(len(names))[groups[points]]
    ax.scatter(positions[:, 0], positions[:, 1], s=6, color=colours)
    ax.set(xticks=[], yticks=[], title=title)
    return ax


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
    if _is_model(labels):
        embedding = _fitted(labels, "embedding_") if embedding is None else embedding
        labels = _fitted(labels, "labels_")
    elif embedding is None:
        raise ValueError("embedding is needed with labels: give a model's embedding_")
    ax = _axes(ax)
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


def pooled_pixels(affinity: Matrix, order: Array) -> Array:
    """Return at most MAX_PIXELS pixels per side, each the largest magnitude that it covers."""
    n = len(order)
    side = min(n, MAX_PIXELS)
    if sparse.issparse(affinity):
        rank = np.argsort(order)
        nonzeros = sparse.coo_array(affinity)
        pixels = np.zeros((side, side))
        covered_by = rank[nonzeros.row] * side // n, rank[nonzeros.col] * side // n
        np.maximum.at(pixels, covered_by, np.abs(nonzeros.data))
        return pixels
    magnitude = np.abs(affinity)[np.ix_(order, order)]
    # The first point of each pixel, consistent with the integer division above.
    starts = -(-np.arange(side) * n // side)
    return np.maximum.reduceat(np.maximum.reduceat(magnitude, starts, axis=0), starts, axis=1)


def _is_model(value: Any) -> bool:
    return hasattr(value, "fit") and hasattr(value, "get_params")


def _fitted(model: Any, name: str) -> Any:
    """Return a fitted attribute of a model."""
    check_is_fitted(model)
    if not hasattr(model, name):
        raise ValueError(f"{type(model).__name__} has no {name}: pass an array instead of a model")
    return getattr(model, name)


def _colours(count: int) -> Array:
    from matplotlib import colormaps

    if count <= 10:
        return colormaps["tab10"](np.arange(count))
    return colormaps["hsv"](np.arange(count) / count)


def _axes(ax: "Axes | None") -> "Axes":
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plotting needs matplotlib: pip install 'dssc[plot]'") from error
    return plt.gca() if ax is None else ax
