"""Draw the pictures of the user guide: what the three etas do, and when a graph falls apart."""

import io
import warnings
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

from dssc import ADSSC, clustering_accuracy, make_union_of_subspaces, subspace_preserving_error
from dssc.graph import count_components
from dssc.plotting import plot_affinity

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"


def main():
    """Write the pictures."""
    FOLDER.mkdir(exist_ok=True)
    X, y = make_union_of_subspaces(
        200, n_subspaces=5, dimension=4, n_features=15, noise=0.3, random_state=0
    )
    draw(X, y, "eta1", [{"eta1": eta1} for eta1 in (1.0, 30.0, 1000.0)], "representation_matrix_")
    draw(X, y, "eta2", [{"eta2": eta2} for eta2 in (0.02, 0.15, 1.0)], "affinity_matrix_")
    draw(X, y, "eta3", [{"eta3": eta3} for eta3 in (0.0, 0.05, 0.2)], "representation_matrix_")
    draw_neighbours(X, y)


def draw(X, y, name, settings, matrix):
    """Draw one matrix for several values of a parameter."""
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.7), layout="constrained")
    for ax, setting in zip(axes, settings, strict=True):
        model = fit(X, **setting)
        shown = getattr(model, matrix)
        error = subspace_preserving_error(shown, y)
        accuracy = clustering_accuracy(y, model.labels_)
        title = (
            f"{name} = {setting[name]:g}: {error:.0%} between subspaces\naccuracy {accuracy:.2f}"
        )
        plot_affinity(shown, y, ax=ax)
        ax.set_title(title, fontsize=10)
    save(figure, name)


def draw_neighbours(X, y):
    """Draw accuracy and connected components against the number of neighbours."""
    counts = np.array([1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 30, 40, 60])
    models = [fit(X, n_neighbors=count) for count in counts.tolist()]
    accuracies = [clustering_accuracy(y, model.labels_) for model in models]
    components = [count_components(model.affinity_matrix_) for model in models]
    figure, left = plt.subplots(figsize=(6.5, 3), layout="constrained")
    left.plot(counts, accuracies, "o-", color="tab:blue")
    left.set(xscale="log", xlabel="neighbours per point", ylabel="accuracy", ylim=(0, 1.02))
    left.yaxis.label.set_color("tab:blue")
    right = left.twinx()
    right.plot(counts, components, "s--", color="tab:red")
    right.set(yscale="log", ylabel="connected components")
    right.yaxis.label.set_color("tab:red")
    right.axhline(5, color="tab:red", linewidth=0.5)
    left.set_xticks([1, 2, 5, 10, 20, 50], ["1", "2", "5", "10", "20", "50"])
    save(figure, "neighbours")


def save(figure, name):
    """Write a figure with few colours, so that the file is small."""
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=80)
    Image.open(buffer).convert("RGB").quantize(32).save(FOLDER / f"{name}.png", optimize=True)


def fit(X, **parameters):
    """Fit without the warning that the graph has too many components, which we want to show."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        parameters = {"eta1": 1.0, "n_neighbors": 12, **parameters}
        return ADSSC(n_clusters=5, random_state=0, **parameters).fit(X)


if __name__ == "__main__":
    main()
