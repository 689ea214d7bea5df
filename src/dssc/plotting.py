"""Pictures of a clustering, on matplotlib axes; needs matplotlib, the extra ``dssc[plot]``."""

import numpy as np
from scipy import sparse

from dssc.graph import as_graph, leading_eigenvalues
from dssc.images import check_images
from dssc.members import certainty, extremes, layout, sample

# A picture cannot show more, and single entries of a large sparse matrix would vanish.
MOST_PIXELS = 400
MOST_POINTS = 2000


def plot_affinity(affinity, labels=None, *, ax=None, title=None):
    """Show the magnitude of an affinity as an image, sorted by label when labels are given.

    Parameters
    ----------
    affinity : array-like or sparse matrix of shape (n_samples, n_samples)
        What to show. A pixel is the largest entry under it where there are more than 400 samples.
    labels : array-like of shape (n_samples,), optional
        Points are grouped by label, and lines mark where groups meet.
    ax : matplotlib Axes, optional
        Where to draw; the current axes when not given.
    title : str, optional
        Title of the axes.

    Returns
    -------
    ax : matplotlib Axes
        The axes drawn on.
    """
    ax = _axes(ax)
    n = affinity.shape[0] if sparse.issparse(affinity) else len(affinity)
    order = np.arange(n)
    if labels is not None:
        labels = np.asarray(labels)
        order = np.argsort(labels, kind="stable")
        _, sizes = np.unique(labels, return_counts=True)
        for boundary in np.cumsum(sizes)[:-1] - 0.5:
            ax.axhline(boundary, color="tab:red", linewidth=0.5)
            ax.axvline(boundary, color="tab:red", linewidth=0.5)
    pixels = _pooled(affinity, order)
    # A few largest entries would leave the rest invisible.
    top = np.quantile(pixels[pixels > 0], 0.95) if pixels.any() else 1.0
    extent = (-0.5, n - 0.5, n - 0.5, -0.5)
    ax.imshow(pixels, cmap="Blues", vmin=0.0, vmax=top, interpolation="nearest", extent=extent)
    ax.set(xticks=[], yticks=[], title=title)
    return ax


def plot_spectrum(affinity, n_clusters, *, embedding=None, n_more=6, ax=None, title=None):
    """Show the leading eigenvalues of an affinity and the gap after the clusters' own.

    Parameters
    ----------
    affinity : array-like or sparse matrix of shape (n_samples, n_samples)
        The affinity; it is normalised by its degrees.
    n_clusters : int
        Number of clusters.
    embedding : array-like of shape (n_samples, n_components), optional
        Its leading eigenvectors, where they are known: a fitted model's `embedding_`.
    n_more : int, default=6
        Eigenvalues to show after the first `n_clusters`, which are good to three digits or so.
    ax : matplotlib Axes, optional
        Where to draw; the current axes when not given.
    title : str, optional
        Title of the axes; the size of the gap when not given.

    Returns
    -------
    ax : matplotlib Axes
        The axes drawn on.
    """
    ax = _axes(ax)
    n_known = 0 if embedding is None else np.shape(embedding)[1]
    more = max(1, n_clusters + n_more - n_known)
    values = leading_eigenvalues(as_graph(affinity), more, embedding)[: n_clusters + n_more]
    places = np.arange(1, len(values) + 1)
    own = places <= n_clusters
    colours = np.where(own, "tab:blue", "0.6")
    ax.vlines(places, values.min(), values, color=colours, linewidth=1)
    ax.scatter(places, values, color=colours, zorder=3)
    if len(values) > n_clusters:
        above, below = values[n_clusters - 1], values[n_clusters]
        ax.axhspan(below, above, color="tab:blue", alpha=0.12)
        title = f"gap {above - below:.3f} after {n_clusters}" if title is None else title
    ax.set(xlabel="eigenvalue", title=title)
    return ax


def plot_embedding(embedding, labels=None, *, n_clusters=None, random_state=0, ax=None, title=None):
    """Show the rows of a spectral embedding in the plane, laid out by t-SNE.

    Parameters
    ----------
    embedding : array-like of shape (n_samples, n_components)
        A fitted model's `embedding_`.
    labels : array-like of shape (n_samples,), optional
        Colours of the points, one a label.
    n_clusters : int, optional
        Number of groups to expect; the number of labels or of components when not given.
    random_state : int, default=0
        Randomness of the layout, and of the sample: about 2,000 points are drawn at most.
    ax : matplotlib Axes, optional
        Where to draw; the current axes when not given.
    title : str, optional
        Title of the axes.

    Returns
    -------
    ax : matplotlib Axes
        The axes drawn on.
    """
    ax = _axes(ax)
    U = np.asarray(embedding)
    names, found = np.unique(np.zeros(len(U)) if labels is None else labels, return_inverse=True)
    if n_clusters is None:
        n_clusters = U.shape[1] if labels is None else len(names)
    points = sample(found, len(names), MOST_POINTS, np.random.default_rng(random_state))
    places, _ = layout(U[points], n_clusters, random_state)
    colours = "tab:blue" if labels is None else _colours(len(names))[found[points]]
    ax.scatter(*places.T, s=6, color=colours)
    ax.set(xticks=[], yticks=[], title=title)
    return ax


def plot_clusters(images, labels, embedding, *, n_members=8, ax=None, title=None):
    """Show the most central members of each cluster, and beside them the most doubtful ones.

    Central members lie closest to the mean direction of their cluster in the embedding; doubtful
    ones have the smallest lead over the next cluster.

    Parameters
    ----------
    images : array-like of shape (n_samples, height, width) or (n_samples, height, width, 3)
        The samples as images.
    labels : array-like of shape (n_samples,)
        Their clusters, integers from 0.
    embedding : array-like of shape (n_samples, n_components)
        A fitted model's `embedding_`.
    n_members : int, default=8
        Images of each kind and cluster.
    ax : matplotlib Axes, optional
        Where to draw; the current axes when not given.
    title : str, optional
        Title of the axes.

    Returns
    -------
    ax : matplotlib Axes
        The axes drawn on: a row for each cluster.
    """
    ax = _axes(ax)
    images, labels = check_images(images), np.asarray(labels)
    n_clusters, (height, width) = labels.max() + 1, images.shape[1:3]
    own, margin = certainty(np.asarray(embedding), labels, n_clusters)
    shown = extremes(own, margin, labels, n_clusters, n_members)
    gap = max(1, width // 2)
    starts = (0, n_members * width + gap)
    page = np.full((n_clusters * height, 2 * n_members * width + gap, *images.shape[3:]), np.nan)
    scale = float(images.max()) or 1.0
    for start, kind in zip(starts, shown, strict=True):
        for cluster, members in enumerate(kind):
            for place, member in enumerate(members):
                left = start + place * width
                rows = slice(cluster * height, (cluster + 1) * height)
                page[rows, left : left + width] = images[member] / scale
    page = np.nan_to_num(page, nan=1.0) if page.ndim == 3 else np.ma.masked_invalid(page)
    ax.imshow(page, cmap="gray", interpolation="nearest")
    ax.set(
        yticks=(np.arange(n_clusters) + 0.5) * height,
        xticks=[start + n_members * width / 2 for start in starts],
        title=title,
    )
    ax.set_yticklabels(range(n_clusters))
    ax.set_xticklabels(["central", "doubtful"])
    ax.set_ylabel("cluster")
    return ax


def _pooled(affinity, order):
    """Return at most MOST_PIXELS pixels a side, each the largest magnitude under it."""
    n = len(order)
    side = min(n, MOST_PIXELS)
    if sparse.issparse(affinity):
        rank = np.empty(n, dtype=np.int64)
        rank[order] = np.arange(n)
        entries = sparse.coo_array(affinity)
        pixels = np.zeros((side, side))
        places = rank[entries.row] * side // n, rank[entries.col] * side // n
        np.maximum.at(pixels, places, np.abs(entries.data))
        return pixels
    magnitude = np.abs(np.asarray(affinity))[np.ix_(order, order)]
    # The first point of each pixel, as the integer division above has it.
    starts = -(-np.arange(side) * n // side)
    return np.maximum.reduceat(np.maximum.reduceat(magnitude, starts, axis=0), starts, axis=1)


def _colours(count):
    from matplotlib import colormaps

    if count <= 10:
        return colormaps["tab10"](np.arange(count))
    return colormaps["hsv"](np.arange(count) / count)


def _axes(ax):
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plotting needs matplotlib: pip install 'dssc[plot]'") from error
    return plt.gca() if ax is None else ax
