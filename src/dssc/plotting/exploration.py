"""A picture of clusterings into several numbers of clusters, to choose the number by."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dssc.plotting.models import call_of_model, is_model, pyplot
from dssc.spectral.eigenvalues import SMALLEST_GAP

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Width and height of the figure in inches.
FIGURE_SIZE = (11.0, 3.2)


def plot_exploration(exploration: Any, *, axes: "Sequence[Axes] | None" = None) -> "Sequence[Axes]":
    """Show the eigenvalues, the modularity and the cluster sizes over the number of clusters.

    A number of clusters is supported by a wide gap after its eigenvalue and by a high modularity.
    Sizes show where a further cluster is only a splinter of a large one.

    Parameters
    ----------
    exploration : fitted model or Exploration
        A model, or what its `explore` returns; of a model, 2 to 15 clusters are compared.
    axes : sequence of three matplotlib Axes, optional
        Axes to draw on; a new figure when not given.

    Returns
    -------
    axes : sequence of three matplotlib Axes
        The axes drawn on.
    """
    if is_model(exploration):
        exploration = call_of_model(exploration, "explore")
    if axes is None:
        axes = pyplot().subplots(1, 3, figsize=FIGURE_SIZE, layout="constrained")[1]
    counts, values = exploration.counts, exploration.eigenvalues[: exploration.counts[-1] + 1]
    numbers = np.arange(1, len(values) + 1)
    axes[0].plot(numbers, values, "o-", color="0.6", markersize=4)
    best = int(np.argmax(exploration.gaps))
    k = int(counts[best])
    has_gap = exploration.gaps[best] >= SMALLEST_GAP
    if has_gap:
        axes[0].axhspan(values[k - 1] - exploration.gaps[best], values[k - 1], alpha=0.15)
    axes[0].set(xlabel="eigenvalue", title=f"widest gap after {k}" if has_gap else "no gap")
    best = int(np.argmax(exploration.modularity))
    axes[1].plot(counts, exploration.modularity, "o-", markersize=4)
    axes[1].axvline(counts[best], color="0.6", linewidth=1)
    axes[1].set(xlabel="clusters", title=f"highest modularity at {counts[best]}")
    places = np.repeat(counts, [len(sizes) for sizes in exploration.sizes])
    axes[2].scatter(places, np.concatenate(exploration.sizes), s=10, alpha=0.6)
    axes[2].set(xlabel="clusters", title="sizes of the clusters", ylim=(0, None))
    return axes
