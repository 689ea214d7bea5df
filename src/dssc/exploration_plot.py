"""A picture of clusterings into several numbers of clusters, to choose the number by."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

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
    exploration : Exploration
        What the `explore` of a fitted estimator returns.
    axes : sequence of three matplotlib Axes, optional
        Axes to draw on; a new figure when not given.

    Returns
    -------
    axes : sequence of three matplotlib Axes
        The axes drawn on.
    """
    axes = _three_axes() if axes is None else axes
    counts, values = exploration.counts, exploration.eigenvalues[: exploration.counts[-1] + 1]
    numbers = np.arange(1, len(values) + 1)
    axes[0].plot(numbers, values, "o-", color="0.6", markersize=4)
    best = int(np.argmax(exploration.gaps))
    k = int(counts[best])
    axes[0].axhspan(values[k - 1] - exploration.gaps[best], values[k - 1], alpha=0.15)
    axes[0].set(xlabel="eigenvalue", title=f"widest gap after {k}")
    best = int(np.argmax(exploration.modularity))
    axes[1].plot(counts, exploration.modularity, "o-", markersize=4)
    axes[1].axvline(counts[best], color="0.6", linewidth=1)
    axes[1].set(xlabel="clusters", title=f"highest modularity at {counts[best]}")
    places = np.repeat(counts, [len(sizes) for sizes in exploration.sizes])
    axes[2].scatter(places, np.concatenate(exploration.sizes), s=10, alpha=0.6)
    axes[2].set(xlabel="clusters", title="sizes of the clusters", ylim=(0, None))
    return axes


def _three_axes() -> "Sequence[Axes]":
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plotting needs matplotlib: pip install 'dssc[plot]'") from error
    return plt.subplots(1, 3, figsize=FIGURE_SIZE, layout="constrained")[1]
