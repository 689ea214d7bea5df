"""Draw the picture of the README and of the front page: |C| of LSR beside its projection."""

import io
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.colors import LinearSegmentedColormap
from PIL import Image

from dssc import ADSSC, make_union_of_subspaces, subspace_preserving_error
from dssc.plotting import plot_affinity

FOLDER = Path(__file__).parents[1] / "docs"
DARK_BLUES = LinearSegmentedColormap.from_list("dark_blues", ["#1b1f27", "#2f5fae", "#a9d0ff"])


def main():
    """Write the picture, and its variants for light and dark pages."""
    X, y = make_union_of_subspaces(
        250, n_subspaces=5, dimension=4, n_features=15, noise=0.05, random_state=0
    )
    model = ADSSC(5, random_state=0).fit(X)
    draw(model, y).savefig(FOLDER / "affinity.png", dpi=100)
    for name in ("light", "dark"):
        figure = draw(model, y, dark=name == "dark", short=True)
        buffer = io.BytesIO()
        figure.savefig(buffer, dpi=130, transparent=True)
        # Few colours make a small file; this method keeps the transparency.
        few = Image.open(buffer).quantize(64, method=Image.Quantize.FASTOCTREE)
        few.save(FOLDER / "pictures" / f"affinity-{name}.png", optimize=True)


def draw(model, y, dark=False, short=False):
    """Return a figure with the coefficients and the affinity, sorted by subspace."""
    with plt.style.context("dark_background" if dark else "default"):
        figure, axes = plt.subplots(1, 2, figsize=(8, 4.3), layout="constrained")
        pictures = [("|C|", model.representation_matrix_), ("A", model.affinity_matrix_)]
        for ax, (name, matrix) in zip(axes, pictures, strict=True):
            error = subspace_preserving_error(matrix, y)
            title = (
                f"{error:.0%} between subspaces"
                if short
                else f"{error:.0%} of its mass between subspaces"
            )
            plot_affinity(matrix, y, ax=ax)
            ax.set_title(f"{name}: {title}", fontsize=13 if short else 12)
            if dark:
                ax.images[0].set_cmap(DARK_BLUES)
    return figure


if __name__ == "__main__":
    main()
