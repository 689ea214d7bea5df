"""The affinity as an image."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from dssc._typing import Array, Matrix
from dssc.graph import as_matrix
from dssc.plotting.models import axes_or_current, fitted_attribute, is_model

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Most pixels per side of an affinity's image: more would not be visible, and single entries of a
# large sparse matrix would vanish.
MAX_PIXELS = 400


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
    if is_model(affinity):
        labels = fitted_attribute(affinity, "labels_") if labels is None else labels
        affinity = fitted_attribute(affinity, "affinity_matrix_")
    ax = axes_or_current(ax)
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
