"""Pictures of affinities; needs matplotlib, the extra ``dssc[plot]``."""

import numpy as np
from scipy import sparse

# A picture cannot show more, and single entries of a large sparse matrix would vanish.
MOST_PIXELS = 400


def plot_affinity(affinity, labels=None, *, ax=None, title=None):
    """Show the magnitude of an affinity as an image, sorted by label when labels are given.

    Parameters
    ----------
    affinity : array-like or sparse matrix of shape (n_samples, n_samples)
        What to show.
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
    plt = _pyplot()
    ax = plt.gca() if ax is None else ax
    magnitude = np.abs(affinity.toarray() if sparse.issparse(affinity) else np.asarray(affinity))
    n = len(magnitude)
    if labels is not None:
        labels = np.asarray(labels)
        order = np.argsort(labels, kind="stable")
        magnitude = magnitude[np.ix_(order, order)]
        _, sizes = np.unique(labels, return_counts=True)
        for boundary in np.cumsum(sizes)[:-1] - 0.5:
            ax.axhline(boundary, color="tab:red", linewidth=0.5)
            ax.axvline(boundary, color="tab:red", linewidth=0.5)
    pixels = _pooled(magnitude)
    # A few largest entries would leave the rest invisible.
    top = np.quantile(pixels[pixels > 0], 0.95) if pixels.any() else 1.0
    extent = (-0.5, n - 0.5, n - 0.5, -0.5)
    ax.imshow(pixels, cmap="Blues", vmin=0.0, vmax=top, interpolation="nearest", extent=extent)
    ax.set(xticks=[], yticks=[], title=title)
    return ax


def _pooled(magnitude):
    """Return at most MOST_PIXELS pixels a side, each the largest entry under it."""
    n = len(magnitude)
    if n <= MOST_PIXELS:
        return magnitude
    starts = np.linspace(0, n, MOST_PIXELS, endpoint=False).astype(int)
    return np.maximum.reduceat(np.maximum.reduceat(magnitude, starts, axis=0), starts, axis=1)


def _pyplot():
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plotting needs matplotlib: pip install 'dssc[plot]'") from error
    return plt
